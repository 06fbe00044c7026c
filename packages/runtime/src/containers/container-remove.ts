import { errorMessage, withTimeout } from '@podwright/base';
import type { ContainerEnd, ContainerRecord, ContainerState } from '../records/container-record.ts';
import type { ContainerContext } from './container-context.ts';
import { stopContainer } from './container-stop.ts';

/** Timeout for stopping a container that is being removed and recording its exit. */
const STOP_TIMEOUT_MS = 120_000;

export type RemoveContext = Pick<
  ContainerContext,
  'table' | 'tasks' | 'files' | 'events' | 'nri' | 'exits' | 'images' | 'failpoint' | 'logger'
>;

/**
 * Kills the container, whatever its state, and hides it from clients. Resolves once none of its processes are left. The record is kept
 * until `removeContainer` has removed the rest, possibly after a restart.
 */
export async function retireContainer(context: RemoveContext, id: string): Promise<void> {
  const { table, tasks, events, nri, failpoint } = context;
  using signal = withTimeout(undefined, STOP_TIMEOUT_MS, `stop container ${id} to remove it`);
  await stopContainer(context, id, { graceMs: 0, signal });
  const before = table.get(id);
  if (before === undefined || before.state.phase === 'removing') return;
  // in a shared PID namespace, other processes of the container may outlive its init process
  if (before.state.phase === 'exited' && (await tasks.isEmpty?.(id)) !== true) await tasks.delete(id);
  table.put({ ...before, state: { phase: 'removing', end: endOf(before.state) } });
  await failpoint('container-remove/recorded');
  if (before.state.phase !== 'creating') events.publish('deleted', before);
  await nri.containerRemoved(before);
}

/** Removes the container, whatever its state. Does not take an abort signal, because the removal continues even if the caller cancels. */
export async function removeContainer(context: RemoveContext, id: string): Promise<void> {
  const { table, tasks, files, exits, failpoint } = context;
  await retireContainer(context, id);
  await exits.cleared(id);
  const record = table.get(id);
  if (record === undefined) return;
  await tasks.delete(id);
  await failpoint('container-remove/task-deleted');
  await files.remove(id);
  await failpoint('container-remove/files-removed');
  table.delete(id);
  collectImages(context, record);
}

/** Garbage-collects the layers of an image that was removed while this container was still using it. */
function collectImages(
  { images, logger }: Pick<RemoveContext, 'images' | 'logger'>,
  { id, image, config }: ContainerRecord,
): void {
  const used = [image.id, ...config.mounts.map((mount) => mount.image).filter((reference) => reference !== '')];
  if (used.every((reference) => images.find(reference) !== undefined)) return;
  images.collectGarbage().catch((error: unknown) => {
    logger.warn({ container: id, error: errorMessage(error) }, 'could not remove the layers of a removed image');
  });
}

function endOf(state: ContainerState): ContainerEnd | undefined {
  if (state.phase !== 'exited') return undefined;
  const { phase: _, ...end } = state;
  return end;
}
