import { type FieldError, invalidValue } from '../field-error.ts';
import { validateLabelName } from '../labels.ts';
import { duplicates } from '../repeats.ts';
import { type JsonObject, textsAt } from '../values.ts';
import { validateItems } from './device-lists.ts';

const MAX_CONDITIONS = 4;

/** Validates the conditions to wait for before binding a pod to a node with the device, and those that make the binding attempt fail. */
export function validateBindingConditions(field: string, device: JsonObject): FieldError[] {
  const binding = 'bindingConditions';
  const failure = 'bindingFailureConditions';
  const conditions = textsAt(device, binding);
  const failures = textsAt(device, failure);
  const options = { max: MAX_CONDITIONS, validate: validateLabelName };
  const overlap = 'bindingFailureConditions must not overlap with bindingConditions';
  return [
    ...validateItems(`${field}.${binding}`, conditions, options),
    ...validateItems(`${field}.${failure}`, failures, options),
    ...duplicates(conditions, (index) => `${field}.${binding}[${index}]`),
    ...duplicates(failures, (index) => `${field}.${failure}[${index}]`),
    ...failures.flatMap((one, index) =>
      conditions.slice(0, MAX_CONDITIONS).includes(one)
        ? [invalidValue(`${field}.${failure}[${index}]`, one, overlap)]
        : [],
    ),
    ...validateBoth(field, { name: binding, conditions }, { name: failure, conditions: failures }),
    ...validateBoth(field, { name: failure, conditions: failures }, { name: binding, conditions }),
  ];
}

type Conditions = { name: string; conditions: readonly string[] };

/**
 * Requires the conditions in the first list if those in the other list are set. The lists are a device's `bindingConditions` and
 * `bindingFailureConditions`, in either order.
 */
function validateBoth(field: string, { name, conditions }: Conditions, other: Conditions): FieldError[] {
  if (conditions.length > 0 || other.conditions.length === 0) return [];
  return [invalidValue(`${field}.${name}`, null, `${name} are required to use ${other.name}`)];
}
