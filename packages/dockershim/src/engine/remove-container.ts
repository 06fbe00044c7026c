import { waitFor, withTimeout } from '@podwright/base';
import { REMOVAL_POLL_MS, REMOVAL_TIMEOUT_MS } from '../limits.ts';
import type { Engine } from './engine.ts';
import { isConflict } from './engine-error.ts';
import { unlessNotFound } from './unless-not-found.ts';

/**
 * Removes a container, killing it first if it is running. If another client is already removing it, waits for that to finish. Succeeds if
 * the container does not exist.
 */
export async function removeContainer(
  { containers }: Pick<Engine, 'containers'>,
  id: string,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await unlessNotFound(containers.remove(id, signal));
  } catch (error) {
    if (!isConflict(error) || !/already in progress/.test(error.message)) throw error;
    using bound = withTimeout(signal, REMOVAL_TIMEOUT_MS, error.message);
    const isGone = async () => ((await unlessNotFound(containers.inspect(id, bound))) === undefined ? true : undefined);
    await waitFor(isGone, { intervalMs: REMOVAL_POLL_MS, signal: bound });
  }
}
