/**
 * Maximum safety margin below a log's size limit, as a fraction of the limit. A log is rotated before it reaches the limit by as much as it
 * is expected to grow during the rotation.
 */
const MAX_LOG_SHARE_AHEAD = 0.3;

/** Initial estimate of the time from a log check to the moment the container runtime opens the new log file. */
const LOG_REOPEN_MS = 20;

/** Assumed maximum write rate. After a write, the next check takes place when the log would reach its size limit at this rate. */
const MAX_LOG_BYTES_PER_MS = 200_000;

/** Minimum time between two checks of a log. `MAX_LOG_CHECK_MS`: the maximum. */
export const MIN_LOG_CHECK_MS = 2;
export const MAX_LOG_CHECK_MS = 1000;

/** The outcome of a check: rotate the log now, or check it again this long after the next write. */
export type LogVerdict = { kind: 'rotate' } | { kind: 'check-again'; afterMs: number };

/**
 * Estimates how fast a log grows and how long a rotation takes. To stay close to the size limit, the rotation must start before the limit
 * is reached. Times are monotonic milliseconds.
 */
export class LogGrowth {
  readonly #maxSizeBytes: number;
  #seen: { sizeBytes: number; atMs: number } | undefined;
  #bytesAMs = 0;
  #dueAtMs: number | undefined;
  /** Longest delay of a scheduled log check since the last rotation. */
  #lateMs = 0;
  /** Measured time from the scheduled time of a log check to the opening of the new log file. */
  #reactionMs = LOG_REOPEN_MS;

  constructor(maxSizeBytes: number) {
    this.#maxSizeBytes = maxSizeBytes;
  }

  /** Records the time for which the next log check is scheduled. */
  due(atMs: number): void {
    this.#dueAtMs = atMs;
  }

  /** Decides what to do after a check of the log's size. The write rate of an earlier burst still counts, halved on each check. */
  judge(sizeBytes: number, atMs: number): LogVerdict {
    if (this.#dueAtMs !== undefined) this.#lateMs = Math.max(this.#lateMs, atMs - this.#dueAtMs);
    this.#dueAtMs = undefined;
    const { sizeBytes: before, atMs: beforeMs } = this.#seen ?? { sizeBytes, atMs: atMs - 1 };
    const bytesAMs = Math.max(0, sizeBytes - before) / Math.max(1, atMs - beforeMs);
    this.#bytesAMs = Math.max(bytesAMs, this.#bytesAMs / 2);
    this.#seen = { sizeBytes, atMs };
    const reactionMs = Math.max(this.#reactionMs, this.#lateMs);
    const aheadBytes = Math.min(this.#bytesAMs * reactionMs, this.#maxSizeBytes * MAX_LOG_SHARE_AHEAD);
    const leftBytes = this.#maxSizeBytes - aheadBytes - sizeBytes;
    if (sizeBytes > 0 && leftBytes <= 0) return { kind: 'rotate' };
    const afterMs = Math.min(MAX_LOG_CHECK_MS, Math.max(MIN_LOG_CHECK_MS, leftBytes / MAX_LOG_BYTES_PER_MS));
    return { kind: 'check-again', afterMs };
  }

  /** Records that the new log file was opened at `atMs`. The effect of a slow rotation on the estimate is halved by each later rotation. */
  rotated(atMs: number): void {
    const reopenMs = atMs - (this.#seen?.atMs ?? atMs);
    this.#reactionMs = Math.max(this.#lateMs + reopenMs, (this.#reactionMs + LOG_REOPEN_MS) / 2);
    this.#lateMs = 0;
    this.#seen = { sizeBytes: 0, atMs };
  }
}
