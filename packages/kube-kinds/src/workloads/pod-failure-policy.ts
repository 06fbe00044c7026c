/** Validates the pod failure policies of Jobs (validatePodFailurePolicy). */
import type { Field } from '../field.ts';
import { qualifiedNameProblems } from '../names.ts';
import { containersOf } from '../pod-spec/visit-containers.ts';
import { type JsonObject, listAt, objectAt, objectsAt, textAt, valueAt } from '../values.ts';

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const MAX_CONDITIONS = 20;
const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];

export function validatePodFailurePolicy(policy: JsonObject, spec: JsonObject, field: Field): void {
  const rules = objectsAt(policy, 'rules');
  const at = field.at('rules');
  if (rules.length > MAX_RULES) at.tooMany(rules.length, MAX_RULES);
  const containers = containersOf(objectAt(spec, 'template', 'spec'), ['initContainers', 'containers']);
  const names = new Set(containers.map(({ container }) => textAt(container, 'name')));
  const hasIndexLimit = valueAt(spec, 'backoffLimitPerIndex') !== undefined;
  for (const [index, rule] of rules.entries()) {
    validateAction(textAt(rule, 'action'), at.at(index, 'action'), hasIndexLimit);
    validateRule(rule, at.at(index), names);
  }
}

function validateAction(action: string, field: Field, hasIndexLimit: boolean): void {
  if (action === '') field.required(validValues(ACTIONS));
  else if (action === 'FailIndex') {
    if (!hasIndexLimit) field.invalid(action, 'requires the backoffLimitPerIndex to be set');
  } else if (!ACTIONS.includes(action)) field.notSupported(action, ACTIONS);
}

const validValues = (values: readonly string[]): string =>
  `valid values: [${values.map((value) => JSON.stringify(value)).join(' ')}]`;

function validateRule(rule: JsonObject, field: Field, names: ReadonlySet<string>): void {
  const exitCodes = objectAt(rule, 'onExitCodes');
  const conditions = objectsAt(rule, 'onPodConditions');
  if (exitCodes !== undefined) validateExitCodes(exitCodes, field.at('onExitCodes'), names);
  if (conditions.length > 0) validateConditions(conditions, field.at('onPodConditions'));
  if (exitCodes !== undefined && conditions.length > 0)
    field.invalidOmitted('specifying both OnExitCodes and OnPodConditions is not supported');
  if (exitCodes === undefined && conditions.length === 0)
    field.invalidOmitted('specifying one of OnExitCodes and OnPodConditions is required');
}

function validateExitCodes(exitCodes: JsonObject, field: Field, names: ReadonlySet<string>): void {
  const operator = textAt(exitCodes, 'operator');
  const container = textAt(exitCodes, 'containerName');
  if (operator === '') field.at('operator').required(validValues(OPERATORS));
  else if (!OPERATORS.includes(operator)) field.at('operator').notSupported(operator, OPERATORS);
  if (valueAt(exitCodes, 'containerName') !== undefined && !names.has(container))
    field
      .at('containerName')
      .invalid(container, 'must be one of the container or initContainer names in the pod template');
  validateValues(listAt(exitCodes, 'values').map(Number), operator, field.at('values'));
}

function validateValues(values: readonly number[], operator: string, field: Field): void {
  if (values.length === 0) field.invalid(values, 'at least one value is required');
  if (values.length > MAX_EXIT_CODES) field.tooMany(values.length, MAX_EXIT_CODES);
  const seen = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (operator === 'In' && value === 0) field.at(index).invalid(value, 'must not be 0 for the In operator');
    if (seen.has(value)) field.at(index).duplicate(value);
    seen.add(value);
  }
  if (values.some((value, index) => index > 0 && values[index - 1]! > value)) field.invalid(values, 'must be ordered');
}

function validateConditions(conditions: readonly JsonObject[], field: Field): void {
  if (conditions.length > MAX_CONDITIONS) field.tooMany(conditions.length, MAX_CONDITIONS);
  for (const [index, condition] of conditions.entries()) {
    const type = textAt(condition, 'type');
    const status = textAt(condition, 'status');
    field.at(index, 'type').invalidEach(type, qualifiedNameProblems(type));
    if (status === '') field.at(index, 'status').required(validValues(STATUSES));
    else if (!STATUSES.includes(status)) field.at(index, 'status').notSupported(status, STATUSES);
  }
}
