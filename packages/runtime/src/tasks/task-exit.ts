import type { TaskExit } from './task-runtime.ts';

/** Exit code of a process that SIGKILL ended, as shells have it; also of one whose own exit code cannot be known any more. */
export const KILLED_EXIT_CODE = 137;

/** How a task ended that was deleted before anything could report its exit. */
export function removedExit(): TaskExit {
  const message = 'the container was killed and removed';
  return { exitCode: KILLED_EXIT_CODE, exitedAtMs: Date.now(), oomKilled: false, message };
}
