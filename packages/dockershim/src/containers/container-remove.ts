import { isNotFound, waitFor, withTimeout } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import { isConflict } from '../engine/engine-error.ts';
import { unlessGone } from '../engine/unless-gone.ts';
import { CONTAINER_TYPE, LOG_PATH_LABEL } from '../labels/labels.ts';
import { REMOVAL_POLL_MS, REMOVAL_TIMEOUT_MS } from '../limits.ts';
import { unlinkLog } from '../logs/log-link.ts';
import type { ContainerServices } from './container-services.ts';
import { inspectOwn } from './own-container.ts';

/**
 * RemoveContainer: removes the container, killed first if it runs, and before it the link to its log, which only the container knows
 * of. A success for what is not there.
 */
export function containerRemove({ engine, failpoint }: ContainerServices): RuntimeHandlers['removeContainer'] {
  return async ({ containerId: id }, { signal }) => {
    const attempted = `remove container ${id}`;
    const container = await unlessGone(inspectOwn(engine, { type: CONTAINER_TYPE, id }, { attempted, signal }));
    if (container === undefined) return {};
    const link = container.Config.Labels[LOG_PATH_LABEL] ?? '';
    if (link !== '') await unlinkLog(link, container.Id);
    await failpoint('container-remove/log-unlinked');
    await removeFromEngine({ engine }, container.Id, signal);
    await failpoint('container-remove/removed');
    return {};
  };
}

/** Removes a container, or waits until somebody else, who is at it, has. */
async function removeFromEngine({ engine }: Pick<ContainerServices, 'engine'>, id: string, signal: AbortSignal) {
  try {
    await unlessGone(engine.containers.remove(id, signal));
  } catch (error) {
    if (!isConflict(error) || !/already in progress/.test(error.message)) throw error;
    using bound = withTimeout(signal, REMOVAL_TIMEOUT_MS, error.message);
    const isGone = () =>
      engine.containers.inspect(id, bound).then(
        () => undefined,
        (failure) => (isNotFound(failure) ? true : Promise.reject(failure)),
      );
    await waitFor(isGone, { intervalMs: REMOVAL_POLL_MS, signal: bound });
  }
}
