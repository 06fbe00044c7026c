import { type FieldError, invalidValue, tooLong } from '@podwright/kube-kinds';

const MAX_BYTES = 128;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Validates the `fieldManager` query parameter. */
export function fieldManagerErrors(manager: string): FieldError[] {
  const errors = Buffer.byteLength(manager) > MAX_BYTES ? [tooLong('fieldManager', MAX_BYTES)] : [];
  let position = 0;
  for (const character of manager) {
    if (!PRINTABLE.test(character))
      errors.push(
        invalidValue('fieldManager', manager, `invalid character ${codePoint(character)} (at position ${position})`),
      );
    if (errors.length > MAX_BYTES) break;
    position += Buffer.byteLength(character);
  }
  return errors;
}

/** Formats a non-printable character like Go's `%#U`. */
const codePoint = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * Returns a write's field manager: the one named by the request or, by default, the User-Agent up to the first `/`, without non-printable
 * characters.
 */
export function managerOf(fieldManager: string, userAgent: string): string {
  if (fieldManager !== '') return fieldManager;
  let manager = '';
  for (const character of userAgent.split('/', 1)[0]!) {
    if (!PRINTABLE.test(character)) continue;
    if (Buffer.byteLength(manager + character) > MAX_BYTES) break;
    manager += character;
  }
  return manager;
}
