export { type DefinedKinds, definedKinds } from './custom-kinds.ts';
export { type CustomRules, type CustomVersion, customConversion, customStrategy } from './custom-strategy.ts';
export {
  conversionErrors,
  definitionSchemaErrors,
  hasRules,
  selectableErrors,
} from './definitions/definition-rules.ts';
export {
  hasCondition,
  hasSameStatus,
  withAcceptedNames,
  withCleanup,
  withoutCleanup,
} from './definitions/definition-status.ts';
export { jsonPath } from './values/json-path.ts';
