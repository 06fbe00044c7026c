import type { RuntimeHandlers } from '@podwright/cri';
import { unlessGone } from '../engine/unless-gone.ts';
import { CONTAINER_TYPE, LOG_PATH_LABEL } from '../labels/labels.ts';
import { unlinkLog } from '../logs/log-link.ts';
import { removeEngineContainer } from '../sandbox/take-back.ts';
import type { ContainerServices } from './container-services.ts';
import { inspectOwn } from './own-container.ts';

/** RemoveContainer: a success for what is not there. */
export function containerRemove(services: ContainerServices): RuntimeHandlers['removeContainer'] {
  return async ({ containerId }, { signal }) => {
    await removeContainer(services, containerId, signal);
    return {};
  };
}

/**
 * Removes a container of ours, killed first if it runs, and before it the link to its log, which only the container knows of. One that
 * is gone is as asked for.
 */
export async function removeContainer(
  { engine, failpoint }: Pick<ContainerServices, 'engine' | 'failpoint'>,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const attempted = `remove container ${id}`;
  const container = await unlessGone(inspectOwn(engine, { type: CONTAINER_TYPE, id }, { attempted, signal }));
  if (container === undefined) return;
  const link = container.Config.Labels[LOG_PATH_LABEL] ?? '';
  if (link !== '') await unlinkLog(link, container.Id);
  await failpoint('container-remove/log-unlinked');
  await removeEngineContainer(engine, container.Id, signal);
  await failpoint('container-remove/removed');
}
