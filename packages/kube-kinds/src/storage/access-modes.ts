import { type FieldError, forbiddenField, notSupported } from '../field-error.ts';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** Validates the access modes of a volume or claim. */
export function validateAccessModes(field: string, modes: readonly string[]): FieldError[] {
  const errors = modes
    .filter((mode) => !ACCESS_MODES.includes(mode))
    .map((mode) => notSupported(field, mode, ACCESS_MODES));
  const hasOthers = modes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode));
  if (modes.includes('ReadWriteOncePod') && hasOthers)
    errors.push(forbiddenField(field, 'may not use ReadWriteOncePod with other access modes'));
  return errors;
}

export const VOLUME_MODES = ['Block', 'Filesystem'];
