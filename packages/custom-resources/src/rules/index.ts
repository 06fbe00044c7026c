/** CEL rules. To save memory, a server only loads this module once a definition with such rules exists. */
export { definitionRuleErrors } from './definition-rule-errors.ts';
export { objectRules } from './object-rules.ts';
