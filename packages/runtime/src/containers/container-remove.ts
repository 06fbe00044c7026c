import { errorMessage, withTimeout } from '@podwright/base';
import type { ContainerEnd, ContainerRecord, ContainerState } from '../records/container-record.ts';
import type { ContainerContext } from './container-context.ts';
import { stopContainer } from './container-stop.ts';

/** Timeout for stopping a container that is to be removed, including the recording of its exit. */
const STOP_TIMEOUT_MS = 120_000;

export type RemoveContext = Pick<
  ContainerContext,
  'table' | 'tasks' | 'files' | 'events' | 'nri' | 'exits' | 'images' | 'failpoint' | 'logger'
>;

/**
 * Kills the container, whatever its state, and hides it from clients. Resolves when all of its processes are gone. The record remains until
 * `removeContainer` has removed everything else, possibly after a restart.
 */
export async function retireContainer(context: RemoveContext, id: string): Promise<void> {
  const { table, tasks, events, nri, failpoint } = context;
  using signal = withTimeout(undefined, STOP_TIMEOUT_MS, `stop container ${id} to remove it`);
  await stopContainer(context, id, { graceMs: 0, signal });
  const before = table.get(id);
  if (before === undefined || before.state.phase === 'removing') return;
  // an exited container's other processes can outlive its init process in a shared PID namespace, so delete the task if any of them are
  // left
  if (before.state.phase === 'exited' && (await tasks.isEmpty?.(id)) !== true) await tasks.delete(id);
  table.put({ ...before, state: { phase: 'removing', end: endOf(before.state) } });
  await failpoint('container-remove/recorded');
  if (before.state.phase !== 'creating') events.publish('deleted', before);
  await nri.containerRemoved(before);
}

/** Removes the container, whatever its state. Takes no abort signal, because removal continues even if the caller cancels. */
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

/** Garbage-collects the layers of images that were removed while this container was using them. */
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
