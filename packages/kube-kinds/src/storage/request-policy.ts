/** Validates how requests consume a device capacity shared by several claims. */
import { compareQuantities, formatQuantity, parseQuantity, quantityValue } from '@podwright/kube-api';
import { type FieldError, forbiddenField, invalidValue, required } from '../field-error.ts';
import { type JsonObject, listAt, objectAt, textAt, textsAt, valueAt } from '../values.ts';
import { validateSet } from './device-lists.ts';

const MAX_VALUES = 10;

export function validateRequestPolicy(field: string, capacity: unknown, isShared: boolean): FieldError[] {
  const policy = objectAt(capacity, 'requestPolicy');
  if (policy === undefined) return [];
  if (!isShared) return [forbiddenField(field, 'allowMultipleAllocations must be true')];
  const max = textAt(capacity, 'value') || '0';
  const range = objectAt(policy, 'validRange');
  const hasValues = listAt(policy, 'validValues').length > 0;
  if (hasValues && range !== undefined) {
    const one = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time';
    return [forbiddenField(field, one)];
  }
  if (!hasValues && range === undefined) return [];
  const name = hasValues ? 'validValues' : 'validRange';
  const fallback = valueAt(policy, 'default');
  if (typeof fallback !== 'string') return [required(`${field}.default`, `required when ${name} is defined`)];
  return range === undefined
    ? validateValues(`${field}.${name}`, textsAt(policy, 'validValues'), { fallback, max })
    : validateRange(`${field}.${name}`, range, { fallback, max });
}

type Amounts = {
  /** The amount of the capacity that a request consumes if it does not specify one. */
  fallback: string;
  /** The device's total capacity. */
  max: string;
};

function validateValues(field: string, values: readonly string[], { fallback, max }: Amounts): FieldError[] {
  const unsorted = values.flatMap((value, index) =>
    index > 0 && compareQuantities(values[index - 1]!, value) > 0
      ? [invalidValue(`${field}[${index}]`, value, 'values must be sorted in ascending order')]
      : [],
  );
  const larger = `option is larger than capacity value: ${max}`;
  const errors = validateSet(field, values, {
    max: MAX_VALUES,
    validate: (at, value) => (compareQuantities(value, max) > 0 ? [invalidValue(at, value, larger)] : []),
    key: (value) => String(quantityValue(value)),
  });
  const isFound = values.length <= MAX_VALUES && values.some((value) => compareQuantities(value, fallback) === 0);
  const notFound = invalidValue(field, fallback, 'default value is not valid according to the requestPolicy');
  return [...unsorted, ...errors, ...(isFound ? [] : [notFound])];
}

function validateRange(field: string, range: JsonObject, amounts: Amounts): FieldError[] {
  const { fallback } = amounts;
  const min = textAt(range, 'min');
  if (min === '') return [required(`${field}.min`, 'required when validRange is defined')];
  const isLess = compareQuantities(fallback, min) < 0;
  const isLarger = compareQuantities(min, amounts.max) > 0;
  return [
    ...(isLarger ? [invalidValue(`${field}.min`, min, `min is larger than capacity value: ${amounts.max}`)] : []),
    ...(isLess ? [invalidValue(`${field}.min`, fallback, `default is less than min: ${min}`)] : []),
    ...validateMax(`${field}.max`, range, amounts),
    ...validateStep(`${field}.step`, range, amounts),
  ];
}

function validateMax(field: string, range: JsonObject, { fallback, max: capacity }: Amounts): FieldError[] {
  const [min, max] = [textAt(range, 'min'), textAt(range, 'max')];
  if (max === '') return [];
  const isSmall = compareQuantities(min, max) > 0;
  const isLarge = compareQuantities(max, capacity) > 0;
  const isDefaultLarger = compareQuantities(fallback, max) > 0;
  return [
    ...(isSmall ? [invalidValue(field, min, `min is larger than max: ${max}`)] : []),
    ...(isLarge ? [invalidValue(field, max, `max is larger than capacity value: ${capacity}`)] : []),
    ...(isDefaultLarger ? [invalidValue(field, fallback, `default is more than max: ${max}`)] : []),
  ];
}

function validateStep(field: string, range: JsonObject, { fallback, max: capacity }: Amounts): FieldError[] {
  const [min, max, step] = [textAt(range, 'min'), textAt(range, 'max'), textAt(range, 'step')];
  if (step === '') return [];
  const sum = formatQuantity(parseQuantity(min).nanos + parseQuantity(step).nanos, min);
  const isLarge = compareQuantities(sum, capacity) > 0;
  const multiples = max === '' ? [fallback] : [fallback, max];
  // a step of 0 makes upstream's server panic; here, the minimum is then the only valid amount
  const isMultiple = (value: string) => {
    const [distance, width] = [quantityValue(value) - quantityValue(min), quantityValue(step)];
    return width === 0n ? distance === 0n : distance % width === 0n;
  };
  const wrong = multiples.filter((value) => !isMultiple(value));
  return [
    ...(isLarge ? [invalidValue(field, step, `one step ${sum} is larger than capacity value: ${capacity}`)] : []),
    ...wrong.map((value) =>
      invalidValue(field, value, `value is not a multiple of a given step (${step}) from (${min})`),
    ),
  ];
}
