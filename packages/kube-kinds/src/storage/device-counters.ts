/** Validates the counters shared by a pool's devices, and their consumption by a device. */
import { type FieldError, required } from '../field-error.ts';
import { isDnsLabel } from '../rules.ts';
import { type JsonObject, objectAt, textAt } from '../values.ts';
import { validateMap } from './device-lists.ts';

const MAX_COUNTERS = 32;
const MAX_COUNTER_NAME = 63;

export function validateCounterSet(field: string, set: JsonObject): FieldError[] {
  const name = textAt(set, 'name');
  return [
    ...(name === '' ? [required(`${field}.name`)] : isDnsLabel(`${field}.name`, name)),
    ...validateCounters(`${field}.counters`, set),
  ];
}

export function validateConsumption(field: string, consumption: JsonObject): FieldError[] {
  const name = textAt(consumption, 'counterSet');
  return [
    ...(name === '' ? [required(`${field}.counterSet`)] : isDnsLabel(`${field}.counterSet`, name)),
    ...validateCounters(`${field}.counters`, consumption),
  ];
}

function validateCounters(field: string, set: JsonObject): FieldError[] {
  const counters = objectAt(set, 'counters') ?? {};
  if (Object.keys(counters).length === 0) return [required(field)];
  return validateMap(field, counters, { max: MAX_COUNTERS, maxKey: MAX_COUNTER_NAME, validateKey: isDnsLabel });
}
