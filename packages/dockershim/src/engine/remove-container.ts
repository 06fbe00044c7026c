import { waitFor, withTimeout } from '@podwright/base';
import { REMOVAL_POLL_MS, REMOVAL_TIMEOUT_MS } from '../limits.ts';
import type { Engine } from './engine.ts';
import { isConflict } from './engine-error.ts';
import { unlessGone } from './unless-gone.ts';

/** Removes a container, killed first if it runs, or waits until somebody else, who is at it, has. A success for one that is gone. */
export async function removeContainer(
  { containers }: Pick<Engine, 'containers'>,
  id: string,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await unlessGone(containers.remove(id, signal));
  } catch (error) {
    if (!isConflict(error) || !/already in progress/.test(error.message)) throw error;
    using bound = withTimeout(signal, REMOVAL_TIMEOUT_MS, error.message);
    const isGone = async () => ((await unlessGone(containers.inspect(id, bound))) === undefined ? true : undefined);
    await waitFor(isGone, { intervalMs: REMOVAL_POLL_MS, signal: bound });
  }
}
