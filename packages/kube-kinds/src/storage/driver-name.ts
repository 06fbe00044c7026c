import { type FieldError, required, tooLong } from '../field-error.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';

const MAX_DRIVER_NAME = 63;

/** Validates the name of a CSI or DRA driver (ValidateCSIDriverName). Uppercase letters are accepted. */
export function validateDriverName(field: string, name: string): FieldError[] {
  if (name === '') return [required(field)];
  const long = Buffer.byteLength(name) > MAX_DRIVER_NAME ? [tooLong(field, MAX_DRIVER_NAME)] : [];
  return [...long, ...problemsAt(field, name, dns1123SubdomainProblems(name.toLowerCase()))];
}
