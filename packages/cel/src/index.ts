export type { Environment } from './checking/environment.ts';
export { kubernetesFunctions, merged as mergedFunctions } from './functions/index.ts';
export { type FunctionTable, overload } from './functions/overload.ts';
export { compile, MAX_CALL_COST, type Outcome, type Program, type Variables } from './program.ts';
export { type SchemaValues, schemaValues, type ValueSchema } from './schema/schema-values.ts';
export { CompileError } from './syntax/compile-error.ts';
export * as celTypes from './types/types.ts';
export { fromJson, toJson } from './values/json-values.ts';
export { lazyFields } from './values/lazy-fields.ts';
export { textOf } from './values/texts.ts';
export {
  CelError as EvaluationError,
  CelList as ListValue,
  CelMap as MapValue,
  Message as MessageValue,
  Opaque as OpaqueValue,
  optional,
  Uint as UnsignedValue,
  type Value,
} from './values/values.ts';
