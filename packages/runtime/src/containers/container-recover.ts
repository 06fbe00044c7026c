import type { ContainerRecord } from '../records/container-record.ts';
import { endInterruptedCheckpoint } from './container-checkpoint.ts';
import type { ContainerContext } from './container-context.ts';
import { endOfLostContainer, endOfTask } from './container-end.ts';
import { type RemoveContext, removeContainer } from './container-remove.ts';

type RecoverContext = RemoveContext & Pick<ContainerContext, 'clock'>;

/** Brings one record of before the restart in line with what is there. */
export async function recoverContainer(context: RecoverContext, record: ContainerRecord): Promise<void> {
  switch (record.state.phase) {
    case 'creating':
    case 'removing':
      return removeContainer(context, record.id);
    case 'starting':
      return recoverStarting(context, record);
    case 'running':
      return recoverRunning(context, record, record.state.startedAtMs).catch((error: unknown) => {
        context.exits.watch(record.id); // its end is recorded yet, and it can be stopped
        throw error;
      });
    case 'exited':
      return clear(context, record.id);
    case 'created':
  }
}

/** The start either went far enough to be true, or is undone: the container may be started again. */
async function recoverStarting(context: RecoverContext, record: ContainerRecord): Promise<void> {
  const { table, tasks, clock } = context;
  const task = await tasks.state(record.id);
  if (task.status === 'created' || task.status === 'absent') {
    await tasks.delete(record.id);
    table.put({ ...record, state: { phase: 'created' } });
    return;
  }
  if (task.status === 'exited') {
    table.put({ ...record, state: { phase: 'exited', ...endOfTask(task.exit, task.exit.exitedAtMs) } });
    return clear(context, record.id);
  }
  table.put({ ...record, state: { phase: 'running', pid: task.pid, startedAtMs: clock.now() } });
  context.exits.watch(record.id);
}

async function recoverRunning(context: RecoverContext, record: ContainerRecord, startedAtMs: number): Promise<void> {
  const { table, tasks, clock, exits } = context;
  const task = await tasks.state(record.id);
  if (task.status === 'running') {
    await endInterruptedCheckpoint(context, record.id);
    exits.watch(record.id);
    return;
  }
  const end =
    task.status === 'exited'
      ? endOfTask(task.exit, startedAtMs)
      : endOfLostContainer(
          startedAtMs,
          clock.now(),
          'the container ended while its runtime was away, and nothing tells how',
        );
  table.put({ ...record, state: { phase: 'exited', ...end } });
  await clear(context, record.id);
}

/** What a container that has ended does not need any more. */
async function clear({ tasks, files }: Pick<RecoverContext, 'tasks' | 'files'>, id: string): Promise<void> {
  await tasks.delete(id);
  files.unmount(id);
}
