import type { ContainerRecord } from '../records/container-record.ts';
import { endInterruptedCheckpoint } from './container-checkpoint.ts';
import type { ContainerContext } from './container-context.ts';
import { endOfLostContainer, endOfTask } from './container-end.ts';
import { type RemoveContext, removeContainer } from './container-remove.ts';

type RecoverContext = RemoveContext & Pick<ContainerContext, 'clock'>;

/** Reconciles a record from before a restart with the actual state of its container. */
export async function recoverContainer(context: RecoverContext, record: ContainerRecord): Promise<void> {
  switch (record.state.phase) {
    case 'creating':
    case 'removing':
      return removeContainer(context, record.id);
    case 'starting':
      return recoverStarting(context, record);
    case 'running':
      return recoverRunning(context, record, record.state.startedAtMs).catch((error: unknown) => {
        context.exits.watch(record.id); // so that the container's exit is recorded, and `stop` works
        throw error;
      });
    case 'exited':
      return clear(context, record.id);
    case 'created':
  }
}

/** Completes an interrupted start if the task was started; otherwise rolls it back, so that the container can be started again. */
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
          'the container exited while the runtime was not running, and its exit code is unknown',
        );
  table.put({ ...record, state: { phase: 'exited', ...end } });
  await clear(context, record.id);
}

/** Deletes the task, and unmounts the root file system and the image mounts. An exited container needs none of these. */
async function clear({ tasks, files }: Pick<RecoverContext, 'tasks' | 'files'>, id: string): Promise<void> {
  await tasks.delete(id);
  files.unmount(id);
}
