/** Rules in CEL. A server loads this module when the first definition with such rules exists, to save memory. */
export { definitionRuleErrors } from './definition-rule-errors.ts';
export { objectRules } from './object-rules.ts';
