/** Validates values against schemas, with upstream's errors (kube-openapi, validate; apiextensions-apiserver, validation). */
import { isRecord } from '@podwright/base';
import type { MatchBudget, Patterns } from '@podwright/cel/patterns';
import {
  type FieldError,
  invalidValue,
  isSameValue,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '@podwright/kube-kinds';
import type { JsonSchema } from '../json-schema.ts';
import { oldElements } from '../old-elements.ts';
import { hasFormat } from './formats.ts';
import { numberErrors, numberFormat } from './number-errors.ts';

export type Validation = {
  patterns: Patterns;
  /** Budget of regular expression matching steps. One budget is shared by all values of an object; it is created if unset. */
  budget?: MatchBudget;
  /** The path of the value, such as `spec.a[0]`; '' for the object itself. */
  path: string;
  /** The value before an update. An invalid value is accepted if it is unchanged. */
  old?: unknown;
};

type Budgeted = Validation & { budget: MatchBudget };

/** Maximum number of errors returned for an object; validation stops when it is reached. */
const MAX_ERRORS = 100;

/** Errors about `anyOf`, `oneOf`, `allOf` and `not` have no path. */
const combined = (message: string): FieldError => invalidValue('<nil>', '', message);

export function validateValue(value: unknown, schema: JsonSchema, options: Validation): FieldError[] {
  const validation = { ...options, budget: options.budget ?? options.patterns.budget() };
  const { old } = validation;
  if (old !== undefined && isSameValue(value, old)) return [];
  if (value === null) return [...typeErrors(value, schema, validation), ...enumErrors(value, schema, validation)];
  const errors = [
    ...typeErrors(value, schema, validation),
    ...combinationErrors(value, schema, validation),
    ...(typeof value === 'string' ? textErrors(value, schema, validation) : []),
    ...(typeof value === 'number' ? numberErrors(value, schema, validation.path) : []),
    ...(Array.isArray(value) ? listErrors(value, schema, validation) : []),
    ...enumErrors(value, schema, validation),
    ...(isRecord(value) ? objectErrors(value, schema, validation) : []),
  ];
  return errors.slice(0, MAX_ERRORS);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

function typeErrors(value: unknown, schema: JsonSchema, { path }: Validation): FieldError[] {
  const types =
    schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : schema.type ? [schema.type] : [];
  const type = typeOf(value);
  if (types.length === 0 || types.includes(type) || (type === 'integer' && types.includes('number'))) return [];
  if (value === null && schema.nullable === true) return [];
  const format = numberFormat(schema);
  const isNumberOrBoolean = typeof value === 'number' || typeof value === 'boolean';
  // upstream names the format for numbers and booleans, but the type for other values, such as quoted numbers and lists
  if (format !== '' && isNumberOrBoolean) return [wrongType(path, format, typeof value === 'number' ? 'float64' : '')];
  return [wrongType(path, types.join(','), type)];
}

const wrongType = (path: string, expected: string, found: string): FieldError =>
  typeInvalid(path, found, `${path} in body must be of type ${expected}: ${JSON.stringify(found)}`);

function textErrors(text: string, schema: JsonSchema, { path, patterns, budget }: Budgeted): FieldError[] {
  const { minLength, maxLength, pattern, format } = schema;
  const errors: FieldError[] = [];
  const length = [...text].length;
  const say = (problem: string) => invalidValue(path, text, `${path} in body ${problem}`);
  if (maxLength !== undefined && length > maxLength) errors.push(tooLong(path, maxLength));
  if (minLength !== undefined && length < minLength) errors.push(say(`should be at least ${minLength} chars long`));
  if (pattern !== undefined && pattern !== '' && !patterns.matches(pattern, text, budget))
    errors.push(say(`should match '${pattern}'`));
  if (format !== undefined && format !== '' && !hasFormat(text, format))
    errors.push(typeInvalid(path, text, `${path} in body must be of type ${format}: ${JSON.stringify(text)}`));
  return errors;
}

function enumErrors(value: unknown, { enum: values, nullable }: JsonSchema, { path }: Validation): FieldError[] {
  if (values === undefined || values.length === 0 || values.some((one) => isSameValue(one, value))) return [];
  if (value === null && nullable === true) return [];
  return [
    notSupported(
      path,
      value,
      values.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))),
    ),
  ];
}

function listErrors(list: readonly unknown[], schema: JsonSchema, validation: Validation): FieldError[] {
  const { items, minItems, maxItems } = schema;
  const { path, old } = validation;
  const errors: FieldError[] = [];
  const oldItem = oldElements(schema, old);
  if (items !== undefined)
    for (const [index, one] of list.entries()) {
      if (errors.length >= MAX_ERRORS) return errors;
      errors.push(...validateValue(one, items, { ...validation, path: `${path}[${index}]`, old: oldItem(one) }));
    }
  if (minItems !== undefined && list.length < minItems)
    errors.push(invalidValue(path, list.length, `${path} in body should have at least ${minItems} items`));
  if (maxItems !== undefined && list.length > maxItems) errors.push(tooMany(path, list.length, maxItems));
  return errors;
}

function objectErrors(object: Record<string, unknown>, schema: JsonSchema, validation: Validation): FieldError[] {
  const { minProperties, maxProperties, properties = {}, additionalProperties } = schema;
  const { path, old } = validation;
  const names = Object.keys(object);
  const errors: FieldError[] = [];
  if (minProperties !== undefined && names.length < minProperties)
    errors.push(invalidValue(path, names.length, `${path} in body should have at least ${minProperties} properties`));
  if (maxProperties !== undefined && names.length > maxProperties)
    errors.push(tooMany(path, names.length, maxProperties));
  for (const name of schema.required ?? []) if (!Object.hasOwn(object, name)) errors.push(required(below(path, name)));
  for (const name of names) {
    if (errors.length >= MAX_ERRORS) return errors;
    const declared = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (typeof declared !== 'object') continue;
    const before = isRecord(old) && Object.hasOwn(old, name) ? old[name] : undefined;
    errors.push(...validateValue(object[name], declared, { ...validation, path: below(path, name), old: before }));
  }
  return errors;
}

const below = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function combinationErrors(value: unknown, schema: JsonSchema, validation: Validation): FieldError[] {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  const shown = JSON.stringify(validation.path);
  const results = (schemas: readonly JsonSchema[]) => schemas.map((one) => validateValue(value, one, validation));
  const errors: FieldError[] = [];
  const any = results(anyOf);
  if (any.length > 0 && !any.some(isValid))
    errors.push(combined(`${shown} must validate at least one schema (anyOf)`), ...any[0]!);
  const one = results(oneOf);
  const count = one.filter(isValid).length;
  if (one.length > 0 && count !== 1) {
    const found = count === 0 ? 'Found none valid' : `Found ${count} valid alternatives`;
    errors.push(combined(`${shown} must validate one and only one schema (oneOf). ${found}`));
    if (count === 0) errors.push(...one[0]!);
  }
  const all = results(allOf);
  errors.push(...all.flat().slice(0, MAX_ERRORS));
  if (!all.every(isValid)) {
    const none = all.some(isValid) ? '' : '. None validated';
    errors.push(combined(`${shown} must validate all the schemas (allOf)${none}`));
  }
  if (not !== undefined && isValid(validateValue(value, not, validation)))
    errors.push(combined(`${shown} must not validate the schema (not)`));
  return errors;
}

const isValid = (errors: readonly FieldError[]): boolean => errors.length === 0;
