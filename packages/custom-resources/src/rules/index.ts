/** Rules in CEL, which a server loads with the first definition that has some. */
export { definitionRuleErrors } from './definition-rule-errors.ts';
export { objectRules } from './object-rules.ts';
