import type { ContainerEnd } from '../records/container-record.ts';
import type { TaskExit } from '../tasks/task-runtime.ts';

/** Exit code of a container that failed to start, as in containerd. */
const START_ERROR_EXIT_CODE = 128;
/** Exit code of a container whose exit was not observed. */
const UNKNOWN_EXIT_CODE = 255;

/** Returns the final state of a container whose process has exited. */
export function endOfTask(exit: TaskExit, startedAtMs: number): ContainerEnd {
  const reason = exit.oomKilled ? 'OOMKilled' : exit.exitCode === 0 ? 'Completed' : 'Error';
  return { startedAtMs, finishedAtMs: exit.exitedAtMs, exitCode: exit.exitCode, reason, message: exit.message ?? '' };
}

/** Returns the final state of a container whose process never ran. */
export function endOfFailedStart(message: string, nowMs: number): ContainerEnd {
  return { startedAtMs: 0, finishedAtMs: nowMs, exitCode: START_ERROR_EXIT_CODE, reason: 'StartError', message };
}

/** Returns the final state of a container whose task is gone, for example after a reboot. */
export function endOfLostContainer(startedAtMs: number, nowMs: number, message: string): ContainerEnd {
  return { startedAtMs, finishedAtMs: nowMs, exitCode: UNKNOWN_EXIT_CODE, reason: 'Unknown', message };
}
