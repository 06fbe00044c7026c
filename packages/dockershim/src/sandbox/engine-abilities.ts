import { PodwrightError } from '@podwright/base';
import {
  NamespaceMode,
  type PodSandboxConfig,
  SecurityProfile_ProfileType as ProfileType,
  type UserNamespace,
} from '@podwright/cri';
import type { EngineInfo } from '../engine/engine-types.ts';

/** The runtime handler that means the Engine's default, as all dockershims have it. */
const DEFAULT_HANDLER = 'docker';

/** The Engine's runtime for a handler; nothing for its default. */
export function runtimeOf(handler: string): string | undefined {
  return handler === '' || handler === DEFAULT_HANDLER ? undefined : handler;
}

/** Whether the Engine must be asked what it can before a sandbox is made. */
export function asksAbilities(config: PodSandboxConfig, handler: string): boolean {
  const security = config.linux?.securityContext;
  const isLocalAppArmor = security?.apparmor?.profileType === ProfileType.Localhost;
  return runtimeOf(handler) !== undefined || isLocalAppArmor || ownUsers(config) !== undefined;
}

/** Throws `failed_precondition`, in words, for what the Engine cannot do for a sandbox. */
export function requireAbilities(info: EngineInfo, config: PodSandboxConfig, handler: string): void {
  const refuse = (message: string) => new PodwrightError('failed_precondition', message);
  const runtime = runtimeOf(handler);
  if (runtime !== undefined && !Object.hasOwn(info.Runtimes, runtime)) {
    const known = Object.keys(info.Runtimes).sort().join(', ');
    throw refuse(
      `runtime handler "${runtime}" is no runtime of the Docker Engine, which has ${known}: add it to "runtimes" in daemon.json`,
    );
  }
  if (
    config.linux?.securityContext?.apparmor?.profileType === ProfileType.Localhost &&
    !info.SecurityOptions.includes('name=apparmor')
  )
    throw refuse('an AppArmor profile is asked for, and the Docker Engine has no AppArmor');
  const users = ownUsers(config);
  if (users !== undefined && !isRemapOf(info, users))
    throw refuse(
      'a user namespace is asked for: the Docker Engine has one for all containers, "userns-remap" in daemon.json, and not this one',
    );
}

function ownUsers(config: PodSandboxConfig): UserNamespace | undefined {
  const users = config.linux?.securityContext?.namespaceOptions?.usernsOptions;
  return users === undefined || users.mode === NamespaceMode.NODE ? undefined : users;
}

/** An Engine that remaps users has its root in a directory that is named for its root's ids, `/var/lib/docker/100000.100000`. */
function isRemapOf({ SecurityOptions, DockerRootDir }: EngineInfo, { uids, gids }: UserNamespace): boolean {
  const root = [uids, gids].map((mappings) => mappings.find(({ containerId }) => containerId === 0)?.hostId).join('.');
  return SecurityOptions.includes('name=userns') && DockerRootDir.endsWith(`/${root}`);
}
