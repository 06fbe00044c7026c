import { open } from 'node:fs/promises';
import { PodwrightError, wrapError } from '@podwright/base';
import { SecurityProfile_ProfileType as ProfileType, type SELinuxOption, type SecurityProfile } from '@podwright/cri';
import { MAX_SECCOMP_PROFILE_BYTES } from '../limits.ts';

/** `label=` options of the Engine for the parts of a label that are asked for. */
export function selinuxOptions(options: SELinuxOption | undefined): string[] {
  const { user = '', role = '', type = '', level = '' } = options ?? {};
  const parts = Object.entries({ user, role, type, level });
  return parts.filter(([, value]) => value !== '').map(([part, value]) => `label=${part}:${value}`);
}

/** The Engine's option for an AppArmor profile; none is its own default. */
export function apparmorOptions(profile: SecurityProfile | undefined): string[] {
  if (profile === undefined || profile.profileType === ProfileType.RuntimeDefault) return [];
  if (profile.profileType === ProfileType.Unconfined) return ['apparmor=unconfined'];
  const name = profile.localhostRef.replace(/^localhost\//, '');
  if (profile.profileType === ProfileType.Localhost && name !== '') return [`apparmor=${name}`];
  throw invalid(`apparmor: type ${profile.profileType} with the profile "${profile.localhostRef}" is unknown`);
}

/**
 * The Engine's option for a seccomp profile; none is its own default. A profile of the host is read now: the Engine takes its
 * text. Throws `invalid_argument` for one that cannot be read.
 */
export async function seccompOptions(profile: SecurityProfile | undefined): Promise<string[]> {
  if (profile === undefined || profile.profileType === ProfileType.RuntimeDefault) return [];
  if (profile.profileType === ProfileType.Unconfined) return ['seccomp=unconfined'];
  if (profile.profileType !== ProfileType.Localhost) throw invalid(`seccomp: type ${profile.profileType} is unknown`);
  const path = profile.localhostRef.replace(/^localhost\//, '');
  if (!path.startsWith('/')) throw invalid(`seccomp: profile "${profile.localhostRef}" is not an absolute path`);
  return [`seccomp=${await readProfile(path)}`];
}

async function readProfile(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const status = await file.stat();
    if (!status.isFile() || status.size > MAX_SECCOMP_PROFILE_BYTES)
      throw invalid(`it is no regular file of at most ${MAX_SECCOMP_PROFILE_BYTES} bytes`);
    return JSON.stringify(JSON.parse(await file.readFile('utf8')));
  } catch (error) {
    throw wrapError(`read the seccomp profile ${path}`, error, 'invalid_argument');
  }
}

const invalid = (message: string): PodwrightError => new PodwrightError('invalid_argument', message);
