/** Validation rules shared by many fields. */
import { type FieldError, invalidValue } from './field-error.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from './names.ts';
import { isNegativeQuantity, isSameValue } from './values.ts';

/** Converts each problem of a value, as returned by the functions in names.ts, to a field error. */
export const problemsAt = (field: string, value: unknown, problems: readonly string[]): FieldError[] =>
  problems.map((problem) => invalidValue(field, value, problem));

/** Requires a field's value to be the same as in the old object (ValidateImmutableField). */
export const immutable = (field: string, value: unknown, old: unknown): FieldError[] =>
  isSameValue(value, old) ? [] : [invalidValue(field, value, 'field is immutable')];

/** Rejects negative numbers (ValidateNonnegativeField). The number may be absent. */
export const nonNegative = (field: string, value: number | undefined): FieldError[] =>
  (value ?? 0) >= 0 ? [] : [invalidValue(field, value, 'must be greater than or equal to 0')];

/** Requires a positive number (ValidatePositiveField). An absent number is treated as 0. */
export const positive = (field: string, value: number | undefined): FieldError[] =>
  (value ?? 0) > 0 ? [] : [invalidValue(field, value ?? 0, 'must be greater than zero')];

/** Rejects negative quantities (ValidateNonnegativeQuantity). */
export const nonNegativeQuantity = (field: string, quantity: string): FieldError[] =>
  isNegativeQuantity(quantity) ? [invalidValue(field, quantity, 'must be greater than or equal to 0')] : [];

/** Validates a DNS-1123 label (ValidateDNS1123Label). */
export const isDnsLabel = (field: string, value: string): FieldError[] =>
  problemsAt(field, value, dns1123LabelProblems(value));

/** Validates a DNS-1123 subdomain (ValidateDNS1123Subdomain). */
export const isDnsSubdomain = (field: string, value: string): FieldError[] =>
  problemsAt(field, value, dns1123SubdomainProblems(value));
