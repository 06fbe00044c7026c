import { isNotFound, waitFor, withTimeout } from '@podwright/base';
import type { Engine } from '../engine/engine.ts';
import { isConflict } from '../engine/engine-error.ts';
import { REMOVAL_TIMEOUT_MS, TAKE_BACK_TIMEOUT_MS } from '../limits.ts';
import { type FoundSandbox, findSandbox } from './found-sandbox.ts';
import { networkFacts } from './sandbox-checkpoint.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';

/** Removes a container, also while the Engine removes it already; one that is gone is as asked for. */
export async function removeEngineContainer({ containers }: Engine, id: string, parent?: AbortSignal): Promise<void> {
  try {
    await containers.remove(id, parent);
  } catch (error) {
    if (isNotFound(error)) return;
    if (!isConflict(error)) throw error;
    using signal = withTimeout(parent, REMOVAL_TIMEOUT_MS, `wait for the Docker Engine to remove container ${id}`);
    const gone = () =>
      containers.inspect(id, signal).then(
        () => undefined,
        (reason) => isNotFound(reason) || undefined,
      );
    await waitFor(gone, { intervalMs: 100, signal });
  }
}

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
  const isOfAnother = checkpoint !== undefined && checkpoint.network !== services.network.name;
  if (hostNetwork || isOfAnother || detached.has(id)) return;
  await services.network.tearDownPod({ pod, netnsPath, ...networkFacts(checkpoint) }, signal);
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
  if (found.container !== undefined) await removeEngineContainer(services.engine, id, signal);
  await checkpoints.remove(id);
  forget(dependencies, id);
}

/** Forgets what was remembered of a sandbox that is gone. */
export function forget({ unfinished, detached }: SandboxDependencies, id: string): void {
  unfinished.delete(id);
  detached.delete(id);
}
