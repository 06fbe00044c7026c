import { errorCode, errorMessage } from '@podwright/base';
import { type RemoteProcess, standInFor } from '@podwright/streaming';
import type { TaskState } from '../../tasks/task-runtime.ts';

/** A shell's exit codes for a command that does not exist or is not executable (POSIX.1, 2.8.2). */
const EXIT_CODES: Record<string, number> = { not_found: 127, permission_denied: 126 };

export type ExecAttempt = {
  containerId: string;
  command: string[];
  tty: boolean;
  state: () => Promise<TaskState>;
};

/**
 * Returns a substitute process for a command that could not be started in a running container. It prints the reason and exits with the code
 * that a shell would use, so that clients do not mistake this for a failure of the container runtime. Returns `undefined` for any other
 * error.
 */
export async function unstartedCommand(
  error: unknown,
  { containerId, command, tty, state }: ExecAttempt,
): Promise<RemoteProcess | undefined> {
  const exitCode = EXIT_CODES[errorCode(error)];
  if (exitCode === undefined) return undefined;
  // `not_found` means either that the command does not exist or that the container does not
  const { status } = await state().catch(() => ({ status: undefined }));
  if (status !== 'running') return undefined;
  // strip the message prefix that names the operation and the container
  const reason = errorMessage(error).split(`${containerId}: `).at(-1)!;
  const named = reason.includes(command[0]!) ? reason : `${command[0]}: ${reason}`;
  return standInFor({ reason: named, exitCode, tty });
}
