import type { ContainerEnd, ContainerState } from './container-record.ts';
import type { ContainerContext } from './container-service.ts';
import { stopContainer } from './container-stop.ts';

/** Removes everything of the container, whatever state it is in. */
export async function removeContainer(context: ContainerContext, id: string): Promise<void> {
  const { table, tasks, files, events, failpoint } = context;
  const signal = new AbortController().signal;
  await stopContainer(context, id, { graceMs: 0, signal });
  const before = table.get(id);
  if (before === undefined) return;
  table.put({ ...before, state: { phase: 'removing', end: endOf(before.state) } });
  await failpoint('container-remove/recorded');
  await tasks.delete(id);
  await failpoint('container-remove/task-deleted');
  await files.remove(id);
  await failpoint('container-remove/files-removed');
  table.delete(id);
  if (before.state.phase !== 'creating') events.publish('deleted', before);
}

function endOf(state: ContainerState): ContainerEnd | undefined {
  if (state.phase === 'removing') return state.end;
  if (state.phase !== 'exited') return undefined;
  const { phase: _, ...end } = state;
  return end;
}
