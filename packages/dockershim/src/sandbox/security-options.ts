import {
  absolutePath,
  type LinuxSandboxSecurityContext,
  plainText,
  type SELinuxOption,
  securityProfile,
} from '@podwright/cri';
import { readSeccompProfile } from './seccomp-profile.ts';

type Security = LinuxSandboxSecurityContext | undefined;

/** Returns the Engine's `label=` options for the requested parts of an SELinux label. */
export function selinuxOptions(options: SELinuxOption | undefined): string[] {
  const { user = '', role = '', type = '', level = '' } = options ?? {};
  const parts = Object.entries({ user, role, type, level }).filter(([, value]) => value !== '');
  return parts.map(([name, value]) => `label=${name}:${plainText(`selinuxOptions.${name}`, value)}`);
}

/** Whether the Engine's `SecurityOptions` include this feature: `apparmor`, `selinux` or `seccomp`. */
export function hasSecurity(options: readonly string[], name: string): boolean {
  return options.some((option) => option.split(',').includes(`name=${name}`));
}

/** Whether the sandbox requests an AppArmor profile loaded on the host. An Engine without AppArmor would ignore it. */
export function asksAppArmor(security: Security): boolean {
  return apparmorOf(security)?.type === 'localhost';
}

/**
 * Returns the `SecurityOpt` of a sandbox. The Engine's defaults apply to omitted settings. Reads seccomp profile files, because the Engine
 * expects their content. Throws `invalid_argument`.
 */
export async function sandboxSecurityOptions(security: Security): Promise<string[]> {
  const apparmor = apparmorOf(security);
  const options = [
    'no-new-privileges',
    ...selinuxOptions(security?.selinuxOptions),
    ...(await seccompOptions(security)),
  ];
  if (apparmor?.type === 'unconfined') options.push('apparmor=unconfined');
  if (apparmor?.type === 'localhost') options.push(`apparmor=${plainText('apparmor: localhostRef', apparmor.ref)}`);
  return options;
}

const apparmorOf = (security: Security) => securityProfile('apparmor', security?.apparmor, undefined);

/** Returns the seccomp options. A privileged sandbox runs without a profile. */
async function seccompOptions(security: Security): Promise<string[]> {
  const profile = securityProfile('seccomp', security?.seccomp, security?.seccompProfilePath);
  if (profile === undefined || profile.type === 'runtime-default' || security?.privileged) return [];
  if (profile.type === 'unconfined') return ['seccomp=unconfined'];
  return [`seccomp=${await readSeccompProfile(absolutePath('seccomp: localhostRef', profile.ref))}`];
}
