import { errorCode, errorMessage } from '@podwright/base';
import { type RemoteProcess, standInFor } from '@podwright/streaming';
import type { TaskState } from '../../tasks/task-runtime.ts';

/** What shells exit with for a command that is not there, and for one that may not be executed (POSIX.1, 2.8.2). */
const EXIT_CODES: Record<string, number> = { not_found: 127, permission_denied: 126 };

export type ExecAttempt = {
  containerId: string;
  command: string[];
  tty: boolean;
  state: () => Promise<TaskState>;
};

/**
 * What stands for a command that could not be started in a container that runs: its one output is the reason, and it exits as it
 * would from a shell, so that clients tell it from a failure of ours. Undefined for every other error.
 */
export async function unstartedCommand(
  error: unknown,
  { containerId, command, tty, state }: ExecAttempt,
): Promise<RemoteProcess | undefined> {
  const exitCode = EXIT_CODES[errorCode(error)];
  if (exitCode === undefined) return undefined;
  // a container that is not there is "not found" as well
  const { status } = await state().catch(() => ({ status: undefined }));
  if (status !== 'running') return undefined;
  // the message begins with what was attempted in which container, of which clients know
  const reason = errorMessage(error).split(`${containerId}: `).at(-1)!;
  const named = reason.includes(command[0]!) ? reason : `${command[0]}: ${reason}`;
  return standInFor({ reason: named, exitCode, tty });
}
