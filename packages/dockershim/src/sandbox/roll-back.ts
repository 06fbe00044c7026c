import { isNotFound, withTimeout } from '@podwright/base';
import type { Engine } from '../engine/engine.ts';
import { isConflict } from '../engine/engine-error.ts';
import { removeContainer } from '../engine/remove-container.ts';
import { ROLLBACK_TIMEOUT_MS } from '../limits.ts';
import { type FoundSandbox, findSandbox } from './found-sandbox.ts';
import { networkFacts } from './sandbox-checkpoint.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';

/** Kills a container. Succeeds if it is not running. */
export async function killContainer({ containers }: Engine, id: string, signal?: AbortSignal): Promise<void> {
  await containers.kill(id, 'SIGKILL', signal).catch((error: unknown) => {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  });
}

/** Removes a sandbox's network, but only once per process. Removing it again after a restart is cheap. */
export async function detach(
  { services, detached }: Pick<SandboxDependencies, 'services' | 'detached'>,
  { id, pod, checkpoint, hostNetwork, netnsPath }: FoundSandbox,
  signal: AbortSignal,
): Promise<void> {
  if (hostNetwork || detached.has(id)) return;
  const { network, logger } = services;
  if (checkpoint !== undefined && checkpoint.network !== network.name) {
    const fields = { sandbox: id, plugin: checkpoint.network, now: network.name };
    logger.warn(
      fields,
      'the network of a sandbox belongs to a plugin that is not in use any more: its resources may leak',
    );
    return;
  }
  await network.tearDownPod({ pod, netnsPath, ...networkFacts(checkpoint) }, signal);
  detached.add(id);
}

/**
 * Removes a half-created sandbox: its network, its container and finally its checkpoint, so that the next start finds the leftovers if the
 * removal fails. Leaves other containers alone.
 */
export async function rollBack(dependencies: SandboxDependencies, id: string): Promise<void> {
  const { services, checkpoints } = dependencies;
  using signal = withTimeout(undefined, ROLLBACK_TIMEOUT_MS, `roll back sandbox ${id}`);
  const found = await findSandbox(dependencies, id, signal);
  await detach(dependencies, found, signal);
  if (found.container !== undefined) await removeContainer(services.engine, id, signal);
  await checkpoints.remove(id);
  dropState(dependencies, id);
}

/** Drops the dockershim's in-memory state of a removed sandbox. */
export function dropState({ unfinished, detached }: SandboxDependencies, id: string): void {
  unfinished.delete(id);
  detached.delete(id);
}
