export type { Environment } from './checking/environment.ts';
export { kubernetesFunctions } from './functions/index.ts';
export { compile, MAX_CALL_COST, type Outcome, type Program, type Variables } from './program.ts';
export { type SchemaValues, schemaValues } from './schema/schema-values.ts';
export { CompileError } from './syntax/compile-error.ts';
export * as celTypes from './types/types.ts';
export { fromJson, toJson } from './values/json-values.ts';
export { optional } from './values/values.ts';
