/** Exponential backoff for new pods after failures (upstream's pkg/controller/job/backoff_utils.go). */
import type { Pod } from '@podwright/kube-api';
import { remainingMs } from '../framework/remaining-time.ts';
import { finishedAtMs } from './finish-time.ts';

/** Failures of a Job since its last success. In memory only, as in upstream. */
export type JobBackoff = { failures: number; lastFailureMs: number };

/**
 * Delay after the first failure, in milliseconds. It doubles with each further failure, up to `MAX_DELAY_MS` (upstream's
 * `MaxJobPodFailureBackOff`).
 */
const FIRST_DELAY_MS = 10_000;
const MAX_DELAY_MS = 600_000;

export type NewlyFinished = { succeeded: readonly Pod[]; failed: readonly Pod[] };

/** Updates the number of failures when pods have finished. Failures before the last success do not count. */
export function backoffAfter(known: JobBackoff | undefined, { succeeded, failed }: NewlyFinished): JobBackoff {
  const { failures, lastFailureMs } = known ?? { failures: 0, lastFailureMs: 0 };
  const failedAt = failed.map(finishedAtMs);
  if (succeeded.length === 0) {
    if (failed.length === 0) return { failures, lastFailureMs };
    return { failures: failures + failed.length, lastFailureMs: Math.max(...failedAt) };
  }
  const succeededAtMs = Math.max(...succeeded.map(finishedAtMs));
  const later = failedAt.filter((ms) => ms > succeededAtMs);
  return later.length === 0
    ? { failures: 0, lastFailureMs: 0 }
    : { failures: later.length, lastFailureMs: Math.max(...later) };
}

/** Returns the time until the backoff allows the Job's next pod to be created, in milliseconds. */
export function remainingBackoffMs({ failures, lastFailureMs }: JobBackoff, nowMs: number): number {
  if (failures === 0) return 0;
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 10), MAX_DELAY_MS);
  return remainingMs(lastFailureMs, delayMs, nowMs);
}
