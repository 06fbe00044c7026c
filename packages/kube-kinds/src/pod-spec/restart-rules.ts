/** Validates the restart and resize policies of containers (validateContainerRestartPolicy, validateResizePolicy). */
import type { Field } from '../field.ts';
import { type JsonObject, listAt, objectAt, objectsAt, textAt, valueAt } from '../values.ts';

const POLICIES = ['Always', 'Never', 'OnFailure'];
const ACTIONS = ['Restart', 'RestartAllContainers'];
const OPERATORS = ['In', 'NotIn'];
const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;

export function validateRestartRules(container: JsonObject, field: Field): void {
  const rules = objectsAt(container, 'restartPolicyRules');
  if (valueAt(container, 'restartPolicy') === undefined) {
    if (rules.length === 0) return;
    field.at('restartPolicy').required('must specify restartPolicy when restart rules are used');
  } else {
    const policy = textAt(container, 'restartPolicy');
    if (!POLICIES.includes(policy)) field.at('restartPolicy').notSupported(policy, POLICIES);
  }
  if (rules.length > MAX_RULES) field.at('restartPolicyRules').tooMany(rules.length, MAX_RULES);
  for (const [index, rule] of rules.entries()) validateRule(rule, field.at('restartPolicyRules', index));
}

/** Validates the restart rules of an init container. Without a restart policy, rules are not allowed, and nothing else is checked. */
export function validateInitRestartRules(container: JsonObject, field: Field): void {
  if (valueAt(container, 'restartPolicy') !== undefined) return validateRestartRules(container, field);
  if (listAt(container, 'restartPolicyRules').length > 0)
    field.at('restartPolicy').required('must specify restartPolicy when restart rules are used');
}

function validateRule(rule: JsonObject, field: Field): void {
  const action = textAt(rule, 'action');
  if (!ACTIONS.includes(action)) field.at('action').notSupported(action, ACTIONS);
  const exitCodes = objectAt(rule, 'exitCodes');
  if (exitCodes === undefined) return field.at('exitCodes').required('must be specified');
  const operator = textAt(exitCodes, 'operator');
  if (!OPERATORS.includes(operator)) field.at('exitCodes', 'operator').notSupported(operator, OPERATORS);
  const count = listAt(exitCodes, 'values').length;
  if (count > MAX_EXIT_CODES) field.at('exitCodes', 'values').tooMany(count, MAX_EXIT_CODES);
}

const RESIZABLE = ['cpu', 'memory'];
const RESIZE_POLICIES = ['NotRequired', 'RestartContainer'];

export function validateResizePolicies(container: JsonObject, field: Field, podRestartPolicy: string): void {
  const seen = new Set<string>();
  for (const [index, one] of objectsAt(container, 'resizePolicy').entries()) {
    const resource = textAt(one, 'resourceName');
    const policy = textAt(one, 'restartPolicy');
    if (seen.has(resource)) field.at(index).duplicate(resource);
    seen.add(resource);
    field.oneOf(resource, RESIZABLE);
    field.oneOf(policy, RESIZE_POLICIES);
    if (podRestartPolicy === 'Never' && policy !== 'NotRequired')
      field.invalid(policy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
  }
}
