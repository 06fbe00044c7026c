import {
  absolutePath,
  type LinuxSandboxSecurityContext,
  plainText,
  type SELinuxOption,
  securityProfile,
} from '@podwright/cri';
import { readSeccompProfile } from './seccomp-profile.ts';

type Security = LinuxSandboxSecurityContext | undefined;

/** `label=` options of the Engine for the parts of a label that are asked for. */
export function selinuxOptions(options: SELinuxOption | undefined): string[] {
  const { user = '', role = '', type = '', level = '' } = options ?? {};
  const parts = Object.entries({ user, role, type, level }).filter(([, value]) => value !== '');
  return parts.map(([name, value]) => `label=${name}:${plainText(`selinuxOptions.${name}`, value)}`);
}

/** Whether the Engine says, by its `SecurityOptions`, that the host has this kind of security: `apparmor`, `selinux`, `seccomp`. */
export function hasSecurity(options: readonly string[], name: string): boolean {
  return options.some((option) => option.split(',').includes(`name=${name}`));
}

/** Whether a profile of the host is asked for, which an Engine without AppArmor would leave out. */
export function asksAppArmor(security: Security): boolean {
  return apparmorOf(security)?.type === 'localhost';
}

/**
 * A sandbox's `SecurityOpt`. What is not asked for is as the Engine has it by default. A seccomp profile of the host is read now:
 * the Engine takes its text. Throws `invalid_argument`.
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

/** A privileged sandbox has none. */
async function seccompOptions(security: Security): Promise<string[]> {
  const profile = securityProfile('seccomp', security?.seccomp, security?.seccompProfilePath);
  if (profile === undefined || profile.type === 'runtime-default' || security?.privileged) return [];
  if (profile.type === 'unconfined') return ['seccomp=unconfined'];
  return [`seccomp=${await readSeccompProfile(absolutePath('seccomp: localhostRef', profile.ref))}`];
}
