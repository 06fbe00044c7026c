/** Validates seccomp and AppArmor profiles (validateSeccompProfileField, ValidateAppArmorProfileField). */
import type { Field } from '../field.ts';
import { type JsonObject, textAt, valueAt } from '../values.ts';
import { validateDescendingPath } from './volume-paths.ts';

const TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const MAX_PROFILE_BYTES = 4095;

export function validateSeccompProfile(profile: JsonObject | undefined, field: Field): void {
  if (profile === undefined) return;
  const type = textAt(profile, 'type');
  const isSet = valueAt(profile, 'localhostProfile') !== undefined;
  const at = field.at('localhostProfile');
  if (type === '') field.at('type').required('type is required when seccompProfile is set');
  else if (!TYPES.includes(type)) field.at('type').notSupported(type, TYPES);
  if (type !== 'Localhost') {
    // upstream's error shows the Go struct, with capitalized field names
    const shown = { Type: type, LocalhostProfile: textAt(profile, 'localhostProfile') };
    if (isSet) at.invalid(shown, 'can only be set when seccomp type is Localhost');
  } else if (!isSet) at.required('must be set when seccomp type is Localhost');
  else validateDescendingPath(textAt(profile, 'localhostProfile'), at);
}

export function validateAppArmorProfile(profile: JsonObject | undefined, field: Field): void {
  if (profile === undefined) return;
  const type = textAt(profile, 'type');
  if (type === '') return field.at('type').required('type is required when appArmorProfile is set');
  if (!TYPES.includes(type)) return field.at('type').notSupported(type, TYPES);
  const at = field.at('localhostProfile');
  const isSet = valueAt(profile, 'localhostProfile') !== undefined;
  const name = textAt(profile, 'localhostProfile');
  if (type === 'Localhost') return validateLocalProfile(isSet ? name : undefined, at);
  if (isSet) at.invalid(name, 'can only be set when AppArmor type is Localhost');
}

function validateLocalProfile(name: string | undefined, field: Field): void {
  if (name === undefined) return field.required('must be set when AppArmor type is Localhost');
  if (name.trim() !== name) field.invalid(name, 'must not be padded with whitespace');
  else if (name === '') field.required('must be set when AppArmor type is Localhost');
  if (Buffer.byteLength(name) > MAX_PROFILE_BYTES) field.tooLong(MAX_PROFILE_BYTES);
}
