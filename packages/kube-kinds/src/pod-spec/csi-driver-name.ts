import type { Field } from '../field.ts';
import { dns1123SubdomainProblems } from '../names.ts';

const MAX_DRIVER_NAME = 63;

/** Validates the name of a CSI driver (ValidateCSIDriverName). */
export function validateCsiDriverName(name: string, field: Field): void {
  if (name === '') return field.required();
  if (Buffer.byteLength(name) > MAX_DRIVER_NAME) field.tooLong(MAX_DRIVER_NAME);
  field.invalidEach(name, dns1123SubdomainProblems(name.toLowerCase()));
}
