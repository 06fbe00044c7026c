import { isNotFound, withTimeout } from '@podwright/base';
import type { Engine } from '../engine/engine.ts';
import { isConflict } from '../engine/engine-error.ts';
import { removeContainer } from '../engine/remove-container.ts';
import { TAKE_BACK_TIMEOUT_MS } from '../limits.ts';
import { type FoundSandbox, findSandbox } from './found-sandbox.ts';
import { networkFacts } from './sandbox-checkpoint.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';

/** Ends a container at once; one that does not run is as asked for. */
export async function killContainer({ containers }: Engine, id: string, signal?: AbortSignal): Promise<void> {
  await containers.kill(id, 'SIGKILL', signal).catch((error: unknown) => {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  });
}

/** Removes a sandbox's network, once; it is asked for again after a restart, which costs little. */
export async function detach(
  { services, detached }: Pick<SandboxDependencies, 'services' | 'detached'>,
  { id, pod, checkpoint, hostNetwork, netnsPath }: FoundSandbox,
  signal: AbortSignal,
): Promise<void> {
  if (hostNetwork || detached.has(id)) return;
  const { network, logger } = services;
  if (checkpoint !== undefined && checkpoint.network !== network.name) {
    const fields = { sandbox: id, plugin: checkpoint.network, now: network.name };
    logger.warn(fields, 'a sandbox has its network of a plugin that is not in use any more: what it holds may stay');
    return;
  }
  await network.tearDownPod({ pod, netnsPath, ...networkFacts(checkpoint) }, signal);
  detached.add(id);
}

/**
 * Removes all of a sandbox that was half made: its network, its container, and at last its checkpoint, so that what could not be
 * removed is found by the next start. Nothing but the sandbox's own container is touched.
 */
export async function takeBack(dependencies: SandboxDependencies, id: string): Promise<void> {
  const { services, checkpoints } = dependencies;
  using signal = withTimeout(undefined, TAKE_BACK_TIMEOUT_MS, `take back sandbox ${id}`);
  const found = await findSandbox(dependencies, id, signal);
  await detach(dependencies, found, signal);
  if (found.container !== undefined) await removeContainer(services.engine, id, signal);
  await checkpoints.remove(id);
  forget(dependencies, id);
}

/** Forgets what was remembered of a sandbox that is gone. */
export function forget({ unfinished, detached }: SandboxDependencies, id: string): void {
  unfinished.delete(id);
  detached.delete(id);
}
