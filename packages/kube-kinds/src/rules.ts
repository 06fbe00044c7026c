/** Frequent rules of fields. */
import { type FieldError, invalidValue } from './field-error.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from './names.ts';
import { isNegativeQuantity, isSameValue } from './values.ts';

/** An error for each problem of a value. */
export const problemsAt = (field: string, value: unknown, problems: readonly string[]): FieldError[] =>
  problems.map((problem) => invalidValue(field, value, problem));

/** ValidateImmutableField: the value must not differ from the old one. */
export const immutable = (field: string, value: unknown, old: unknown): FieldError[] =>
  isSameValue(value, old) ? [] : [invalidValue(field, value, 'field is immutable')];

/** ValidateNonnegativeField. An absent number is valid. */
export const nonNegative = (field: string, value: number | undefined): FieldError[] =>
  (value ?? 0) >= 0 ? [] : [invalidValue(field, value, 'must be greater than or equal to 0')];

/** ValidatePositiveField. An absent number counts as 0. */
export const positive = (field: string, value: number | undefined): FieldError[] =>
  (value ?? 0) > 0 ? [] : [invalidValue(field, value ?? 0, 'must be greater than zero')];

/** ValidateNonnegativeQuantity. */
export const nonNegativeQuantity = (field: string, quantity: string): FieldError[] =>
  isNegativeQuantity(quantity) ? [invalidValue(field, quantity, 'must be greater than or equal to 0')] : [];

/** ValidateDNS1123Label. */
export const isDnsLabel = (field: string, value: string): FieldError[] =>
  problemsAt(field, value, dns1123LabelProblems(value));

/** ValidateDNS1123Subdomain. */
export const isDnsSubdomain = (field: string, value: string): FieldError[] =>
  problemsAt(field, value, dns1123SubdomainProblems(value));
