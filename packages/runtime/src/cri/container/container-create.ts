import { PodwrightError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import type { ContainerConfig } from '../../records/container-record.ts';
import type { SandboxRecord } from '../../records/sandbox-record.ts';
import { containerConfig } from '../messages/container-config.ts';
import { sameMappings } from '../messages/user-namespace.ts';
import type { CriServices } from '../services/services.ts';

/** CreateContainer: everything but the process, which StartContainer makes. */
export function containerCreate({
  containers,
  sandboxes,
  facts,
}: Pick<CriServices, 'containers' | 'sandboxes' | 'facts'>): RuntimeHandlers['createContainer'] {
  return async ({ podSandboxId, config }, { signal }) => {
    const sandbox = sandboxes.require(podSandboxId);
    const wanted = containerConfig(config);
    if (wanted.security.privileged && !sandbox.config.privileged) {
      throw new PodwrightError(
        'invalid_argument',
        `create container ${wanted.name}: it is privileged, but its sandbox ${sandbox.id} was not asked to allow that`,
      );
    }
    checkUsers(wanted, sandbox);
    checkReadOnly(wanted, sandbox, facts);
    const record = await containers.create(sandbox.id, wanted, signal);
    return { containerId: record.id };
  };
}

/** All containers of a pod have the pod's users, and so do the mounts that are shown as those of others. */
function checkUsers({ name, security, mounts }: ContainerConfig, { id, config }: SandboxRecord): void {
  if (!sameMappings(security.userNamespace, config.userNamespace)) {
    throw new PodwrightError(
      'invalid_argument',
      `create container ${name}: its user namespace is another one than that of its sandbox ${id}`,
    );
  }
  const other = mounts.find(({ mappings }) => mappings !== undefined && !sameMappings(mappings, config.userNamespace));
  if (other === undefined) return;
  throw new PodwrightError(
    'invalid_argument',
    `create container ${name}: the ID mappings of mount ${other.containerPath} are not those of its sandbox ${id}`,
  );
}

/** A mount that is to be read-only with all below it must not be less than that. */
function checkReadOnly(
  { name, mounts }: ContainerConfig,
  { config: { runtimeHandler } }: SandboxRecord,
  { recursiveReadOnlyHandlers }: CriServices['facts'],
): void {
  const mount = mounts.find(({ recursiveReadOnly }) => recursiveReadOnly);
  if (mount === undefined || recursiveReadOnlyHandlers.has(runtimeHandler)) return;
  throw new PodwrightError(
    'failed_precondition',
    `create container ${name}: runtime handler "${runtimeHandler}" cannot mount ${mount.containerPath} recursively read-only`,
  );
}
