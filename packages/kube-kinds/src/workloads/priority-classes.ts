import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import { PREEMPTION_POLICIES } from '../pod-spec/pod-spec.ts';
import type { Strategy } from '../strategy.ts';
import { numberAt, textAt, valueAt } from '../values.ts';
import { validateImmutable } from './workload-spec.ts';

const HIGHEST_USER_PRIORITY = 1_000_000_000;
const SYSTEM_PREFIX = 'system-';
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-node-critical': 2 * HIGHEST_USER_PRIORITY + 1000,
  'system-cluster-critical': 2 * HIGHEST_USER_PRIORITY,
};

function validate(object: ApiObject): FieldError[] {
  const field = new Field();
  const name = object.metadata.name ?? '';
  const value = numberAt(object, 'value') ?? 0;
  const problem = systemProblem(object, name);
  if (name.startsWith(SYSTEM_PREFIX)) {
    const words = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${problem}`;
    if (problem !== undefined) field.at('metadata', 'name').forbidden(words);
  } else if (value > HIGHEST_USER_PRIORITY)
    field.at('value').forbidden(`maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`);
  if (valueAt(object, 'preemptionPolicy') !== undefined)
    field.at('preemptionPolicy').oneOf(textAt(object, 'preemptionPolicy'), PREEMPTION_POLICIES);
  return field.errors;
}

/** Returns the problem of a class with a reserved name, or `undefined` if it exactly matches one of the system classes. */
function systemProblem(object: ApiObject, name: string): string | undefined {
  const value = Object.hasOwn(SYSTEM_CLASSES, name) ? SYSTEM_CLASSES[name] : undefined;
  if (value === undefined) return `${name} is not a known system priority class`;
  if (numberAt(object, 'value') !== value) return `value of ${name} PriorityClass must be ${value}`;
  return valueAt(object, 'globalDefault') === true ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function validateUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const field = new Field();
  if ((numberAt(object, 'value') ?? 0) !== (numberAt(old, 'value') ?? 0))
    field.at('value').forbidden('may not be changed in an update.');
  validateImmutable(object.preemptionPolicy, old.preemptionPolicy, field.at('preemptionPolicy'));
  return field.errors;
}

export const PRIORITY_CLASSES: Strategy = {
  applyDefaults: (object) =>
    object.preemptionPolicy === undefined ? { ...object, preemptionPolicy: 'PreemptLowerPriority' } : object,
  validate,
  validateUpdate,
  // upstream sets the generation to 1 and never increments it
  prepareForCreate: (object) => ({ ...object, metadata: { ...object.metadata, generation: 1 } }),
};
