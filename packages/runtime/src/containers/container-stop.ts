import { isCancelled, isDeadlineExceeded, withTimeout } from '@podwright/base';
import type { ContainerContext } from './container-context.ts';

/** Timeout for a process to exit after SIGKILL. Exceeded only if the process hangs in the kernel; StopContainer then fails. */
const KILL_TIMEOUT_MS = 60_000;

/** Sends the container's stop signal, then SIGKILL if it has not exited within `graceMs`. Resolves once its exit has been recorded. */
export async function stopContainer(
  context: Pick<ContainerContext, 'table' | 'tasks' | 'exits' | 'failpoint'>,
  id: string,
  options: { graceMs: number; signal: AbortSignal },
): Promise<void> {
  const { table, tasks, exits, failpoint } = context;
  const record = table.get(id);
  if (record?.state.phase !== 'running') return;
  if (options.graceMs > 0 && (await endsAfter(record.stopSignal))) return;
  await tasks.kill(id, 'SIGKILL', { all: true });
  await failpoint('container-stop/killed');
  using killed = withTimeout(options.signal, KILL_TIMEOUT_MS, `stop container ${id}`);
  await exits.ended(id, killed);

  async function endsAfter(stopSignal: string): Promise<boolean> {
    await tasks.kill(id, stopSignal);
    await failpoint('container-stop/signalled');
    using grace = withTimeout(options.signal, options.graceMs, `stop container ${id}`);
    try {
      await exits.ended(id, grace);
      return true;
    } catch (error) {
      if (options.signal.aborted || !(isDeadlineExceeded(error) || isCancelled(error))) throw error;
      return false;
    }
  }
}
