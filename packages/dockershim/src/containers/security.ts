import { PodwrightError } from '@podwright/base';
import {
  absolutePath,
  idOf,
  invalid,
  type LinuxContainerSecurityContext,
  plainText,
  SupplementalGroupsPolicy,
  securityProfile,
} from '@podwright/cri';
import type { HostConfig } from '../engine/engine-types.ts';
import { hasSecurity, selinuxOptions } from '../sandbox/security-options.ts';
import { unsupported } from './unsupported.ts';

type Security = LinuxContainerSecurityContext;

/** Facts about the host that determine a container's security options. */
export type SecurityFacts = {
  /** The Engine's `SecurityOptions`, such as `name=apparmor`. */
  options: readonly string[];
  /** Content of the seccomp profile if the request names a file; the Engine does not accept paths. */
  seccompProfile?: string;
};

/** Returns the path of the requested seccomp profile, or `undefined` if the profile is not a file. */
export function seccompProfilePath(security: Security | undefined): string | undefined {
  const profile = seccompOf(security);
  if (profile.type !== 'localhost' || security?.privileged) return undefined;
  return absolutePath('seccomp: localhostRef', profile.ref);
}

/** Returns the user as `USER` or `USER:GROUP`, by ID or name, or '' for the image's user. */
export function userOf(security: Security | undefined): string {
  const name = plainText('runAsUsername', security?.runAsUsername ?? '');
  if (name.includes(':')) throw invalid(`runAsUsername "${name}" has a colon`);
  const { runAsUser, runAsGroup } = security ?? {};
  const user = name || (runAsUser === undefined ? '' : String(idOf('runAsUser', runAsUser.value)));
  if (runAsGroup === undefined) return user;
  if (user === '') throw invalid('runAsGroup is set without runAsUser or runAsUsername');
  return `${user}:${idOf('runAsGroup', runAsGroup.value)}`;
}

/** Converts a container's security context to the Engine's configuration. */
export function securityConfig(security: Security | undefined, facts: SecurityFacts): Partial<HostConfig> {
  checkAmbient(security);
  checkGroupsPolicy(security);
  return {
    Privileged: security?.privileged ?? false,
    ReadonlyRootfs: security?.readonlyRootfs ?? false,
    CapAdd: security?.capabilities?.addCapabilities ?? [],
    CapDrop: security?.capabilities?.dropCapabilities ?? [],
    GroupAdd: (security?.supplementalGroups ?? []).map((id) => String(idOf('supplementalGroups', id))),
    SecurityOpt: securityOptions(security, facts),
    ...hiddenPaths(security),
  };
}

/**
 * Returns the requested masked and read-only paths. An empty list masks nothing. Docker's defaults apply if there is no security context or
 * the container is privileged.
 */
function hiddenPaths(security: Security | undefined): Pick<HostConfig, 'MaskedPaths' | 'ReadonlyPaths'> {
  if (security === undefined || security.privileged) return {};
  return {
    MaskedPaths: security.maskedPaths.map((path) => absolutePath('maskedPaths', path)),
    ReadonlyPaths: security.readonlyPaths.map((path) => absolutePath('readonlyPaths', path)),
  };
}

function securityOptions(security: Security | undefined, facts: SecurityFacts): string[] {
  return [
    ...seccompOptions(security, facts),
    ...apparmorOptions(security, facts),
    ...selinuxOptions(security?.selinuxOptions),
    ...(security?.noNewPrivs ? ['no-new-privileges'] : []),
  ];
}

function seccompOf(security: Security | undefined) {
  const unconfined = { type: 'unconfined' } as const;
  return securityProfile('seccomp', security?.seccomp, security?.seccompProfilePath) ?? unconfined;
}

/** Returns the seccomp options. An empty list selects the Engine's default profile; a privileged container runs without a profile. */
function seccompOptions(security: Security | undefined, { seccompProfile }: SecurityFacts): string[] {
  const profile = seccompOf(security);
  if (profile.type === 'runtime-default' || security?.privileged) return [];
  if (profile.type === 'unconfined') return ['seccomp=unconfined'];
  return [`seccomp=${seccompProfile}`];
}

function apparmorOptions(security: Security | undefined, { options }: SecurityFacts): string[] {
  const profile = securityProfile('apparmor', security?.apparmor, security?.apparmorProfile);
  if (profile === undefined || profile.type === 'runtime-default') return [];
  if (profile.type === 'unconfined') return ['apparmor=unconfined'];
  if (hasSecurity(options, 'apparmor')) return [`apparmor=${plainText('apparmor: localhostRef', profile.ref)}`];
  throw new PodwrightError('failed_precondition', `AppArmor profile "${profile.ref}": the Docker host has no AppArmor`);
}

function checkAmbient(security: Security | undefined): void {
  const ambient = security?.capabilities?.addAmbientCapabilities ?? [];
  if (ambient.length > 0) throw unsupported(`ambient capabilities (${ambient.join(', ')})`);
}

/**
 * Rejects the supplemental groups policy Strict without a runAsGroup, because Docker adds the supplementary groups from the image's
 * /etc/group if no group is requested. With Merge, a runAsGroup drops the image's groups; this is accepted, because otherwise every pod
 * with a runAsGroup would fail.
 */
function checkGroupsPolicy(security: Security | undefined): void {
  const policy = security?.supplementalGroupsPolicy ?? SupplementalGroupsPolicy.Merge;
  if (policy === SupplementalGroupsPolicy.Merge) return;
  if (policy !== SupplementalGroupsPolicy.Strict) throw invalid(`supplementalGroupsPolicy ${policy} is unknown`);
  if (security?.runAsGroup === undefined)
    throw unsupported('supplementalGroupsPolicy Strict without a runAsGroup: it adds the groups of the image');
}
