import type { TaskExit } from './task-runtime.ts';

/** Exit code of a process killed by SIGKILL, as in shells; also used for an unknown exit code. */
export const KILLED_EXIT_CODE = 137;

/** The exit reported for a task that was deleted before its actual exit was reported. */
export function removedExit(): TaskExit {
  const message = 'the container was killed and removed';
  return { exitCode: KILLED_EXIT_CODE, exitedAtMs: Date.now(), oomKilled: false, message };
}
