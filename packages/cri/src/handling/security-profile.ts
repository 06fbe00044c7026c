import { type SecurityProfile as CriProfile, SecurityProfile_ProfileType as ProfileType } from '../messages.ts';
import { invalid } from './field-checks.ts';

/** A seccomp or AppArmor profile. `ref` is the path of a file, or the name of a loaded profile. */
export type SecurityProfileChoice =
  | { type: 'runtime-default' }
  | { type: 'unconfined' }
  | { type: 'localhost'; ref: string };

/**
 * Reads the security profile, or the deprecated string field (`runtime/default`, `unconfined`, `localhost/NAME`). Returns `undefined` if
 * both are empty.
 */
export function securityProfile(
  field: string,
  profile: CriProfile | undefined,
  old: string | undefined,
): SecurityProfileChoice | undefined {
  if (profile === undefined) return oldProfile(field, old ?? '');
  if (profile.profileType !== ProfileType.Localhost && profile.localhostRef !== '') {
    throw invalid(`${field}: localhostRef "${profile.localhostRef}" is for the type Localhost alone`);
  }
  if (profile.profileType === ProfileType.RuntimeDefault) return { type: 'runtime-default' };
  if (profile.profileType === ProfileType.Unconfined) return { type: 'unconfined' };
  if (profile.profileType !== ProfileType.Localhost) throw invalid(`${field}: type ${profile.profileType} is unknown`);
  if (profile.localhostRef === '') throw invalid(`${field}: localhostRef is empty`);
  return { type: 'localhost', ref: profile.localhostRef.replace(/^localhost\//, '') };
}

function oldProfile(field: string, text: string): SecurityProfileChoice | undefined {
  if (text === '') return undefined;
  if (text === 'runtime/default' || text === 'docker/default') return { type: 'runtime-default' };
  if (text === 'unconfined') return { type: 'unconfined' };
  if (text.startsWith('localhost/')) return { type: 'localhost', ref: text.slice('localhost/'.length) };
  throw invalid(`${field}: profile "${text}" is unknown`);
}
