import { readFile, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { PodwrightError, wrapError } from '@podwright/base';
import type { SpecSecurity } from '@podwright/oci';
import { MAX_SECCOMP_PROFILE_BYTES, parseSeccompProfile, type SelinuxContexts, selinuxLabels } from '@podwright/oci';
import type { AppArmor } from '../host/apparmor.ts';
import type { ContainerRecord, ContainerSecurity } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** How containers can be confined on this host: whether the kernel supports seccomp, and the host's AppArmor and SELinux contexts. */
export type Confinement = { seccomp: boolean; apparmor: AppArmor; selinux: SelinuxContexts };

/** Resolves a container's security settings for its OCI spec: reads profiles and builds SELinux labels. */
export async function resolveSecurity(
  { config: { security } }: ContainerRecord,
  sandbox: SandboxRecord,
  { seccomp, apparmor, selinux }: Confinement,
): Promise<SpecSecurity> {
  const { privileged } = security;
  const options = security.selinux ?? sandbox.config.selinux;
  const labels = selinuxLabels(selinux, options, { sandboxId: sandbox.id, privileged });
  return {
    privileged,
    addCapabilities: security.addCapabilities,
    dropCapabilities: security.dropCapabilities,
    addAmbientCapabilities: security.addAmbientCapabilities,
    noNewPrivileges: security.noNewPrivileges,
    maskedPaths: security.maskedPaths,
    readonlyPaths: security.readonlyPaths,
    seccomp: privileged ? undefined : await seccompOf(security.seccomp, seccomp),
    apparmorProfile: await apparmor.profileFor(security.apparmor, { privileged }),
    selinuxProcessLabel: labels.process,
    selinuxMountLabel: labels.mount,
  };
}

async function seccompOf(profile: ContainerSecurity['seccomp'], hasSeccomp: boolean): Promise<SpecSecurity['seccomp']> {
  if (profile.type === 'unconfined') return undefined;
  if (!hasSeccomp) {
    throw new PodwrightError('failed_precondition', `use seccomp profile ${profile.type}: this kernel has no seccomp`);
  }
  if (profile.type === 'runtime-default') return 'runtime-default';
  const { ref } = profile;
  try {
    if (!isAbsolute(ref)) throw new PodwrightError('invalid_argument', 'it is not an absolute path');
    const stats = await stat(ref);
    if (!stats.isFile() || stats.size > MAX_SECCOMP_PROFILE_BYTES) {
      throw new PodwrightError(
        'invalid_argument',
        `it is not a file, or has more than ${MAX_SECCOMP_PROFILE_BYTES} bytes`,
      );
    }
    return parseSeccompProfile(await readFile(ref, 'utf8'), ref);
  } catch (error) {
    throw wrapError(`read seccomp profile ${ref}`, error, 'invalid_argument');
  }
}
