import { PodwrightError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import type { ContainerConfig } from '../../records/container-record.ts';
import type { SandboxRecord } from '../../records/sandbox-record.ts';
import { containerConfig } from '../messages/container-config.ts';
import { sameMappings } from '../messages/user-namespace.ts';
import type { CriServices } from '../services/services.ts';

/** CreateContainer: creates the container without its process, which StartContainer creates. */
export function containerCreate({
  containers,
  sandboxes,
  facts,
}: Pick<CriServices, 'containers' | 'sandboxes' | 'facts'>): RuntimeHandlers['createContainer'] {
  return async ({ podSandboxId, config }, { signal }) => {
    const sandbox = sandboxes.require(podSandboxId);
    const requested = containerConfig(config);
    if (requested.security.privileged && !sandbox.config.privileged) {
      throw new PodwrightError(
        'invalid_argument',
        `create container ${requested.name}: it is privileged, but its sandbox ${sandbox.id} is not`,
      );
    }
    checkUsers(requested, sandbox);
    checkReadOnly(requested, sandbox, facts);
    const record = await containers.create(sandbox.id, requested, signal);
    return { containerId: record.id };
  };
}

/** Checks that the container's user namespace and ID-mapped mounts use the same mappings as the pod. */
function checkUsers({ name, security, mounts }: ContainerConfig, { id, config }: SandboxRecord): void {
  if (!sameMappings(security.userNamespace, config.userNamespace)) {
    throw new PodwrightError(
      'invalid_argument',
      `create container ${name}: its user namespace differs from that of its sandbox ${id}`,
    );
  }
  const other = mounts.find(({ mappings }) => mappings !== undefined && !sameMappings(mappings, config.userNamespace));
  if (other === undefined) return;
  throw new PodwrightError(
    'invalid_argument',
    `create container ${name}: the ID mappings of mount ${other.containerPath} differ from those of its sandbox ${id}`,
  );
}

/** Rejects recursively read-only mounts if the runtime handler does not support them. */
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
