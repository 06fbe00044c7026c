/** Validates the provisioner names of storage classes and volume attributes classes, and their parameters. */
import { type FieldError, invalidValue, required, tooLong } from '../field-error.ts';
import { qualifiedNameProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';
import { textEntriesAt } from '../values.ts';

const MAX_PARAMETERS = 512;
const MAX_BYTES = 256 * 1024;

/** Validates a driver name: a qualified name, possibly with uppercase letters. */
export function validateProvisioner(field: string, name: string): FieldError[] {
  const lower = name.toLowerCase();
  return name === '' ? [required(field)] : problemsAt(field, lower, qualifiedNameProblems(lower));
}

export function validateParameters(
  field: string,
  parameters: unknown,
  { allowEmpty }: { allowEmpty: boolean },
): FieldError[] {
  const entries = textEntriesAt(parameters);
  if (entries.length > MAX_PARAMETERS) return [tooLong(field, MAX_PARAMETERS)];
  const errors = entries
    .filter(([key]) => key === '')
    .map(([key]) => invalidValue(field, key, 'field can not be empty.'));
  if (sizeOf(entries) > MAX_BYTES) errors.push(tooLong(field, MAX_BYTES));
  if (!allowEmpty && entries.length === 0) errors.push(required(field, 'must contain at least one key/value pair'));
  return errors;
}

/** Returns the total size of all keys and values in bytes. */
export const sizeOf = (entries: readonly (readonly [string, string])[]): number =>
  entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
