/**
 * A fast-growing log is rotated before it reaches its limit, by the amount it grows during the rotation, but by at most this share of the
 * limit.
 */
const MAX_LOG_SHARE_AHEAD = 0.3;

/** Initial estimate of the time from a check until the runtime has opened the new file. */
const LOG_REOPEN_MS = 20;

/** Assumed maximum write rate: after a write, the next check is due when the log would be full at this rate. */
const MAX_LOG_BYTES_PER_MS = 200_000;

/** Bounds of the time between two checks of a log. */
export const MIN_LOG_CHECK_MS = 2;
export const MAX_LOG_CHECK_MS = 1000;

/** What a check decides: rotate the log now, or check it again this long after the next write. */
export type LogVerdict = { kind: 'rotate' } | { kind: 'check-again'; afterMs: number };

/**
 * Estimates how fast a log grows and how long a rotation takes. To keep the log near its limit, the rotation must start before the limit is
 * reached. Times are monotonic milliseconds.
 */
export class LogGrowth {
  readonly #maxSizeBytes: number;
  #seen: { sizeBytes: number; atMs: number } | undefined;
  #bytesAMs = 0;
  #dueAtMs: number | undefined;
  /** The longest delay of a check beyond its due time since the last rotation. */
  #lateMs = 0;
  /** Measured time from the due time of a check until the new file is open. */
  #reactionMs = LOG_REOPEN_MS;

  constructor(maxSizeBytes: number) {
    this.#maxSizeBytes = maxSizeBytes;
  }

  /** Sets the due time of the next check. */
  due(atMs: number): void {
    this.#dueAtMs = atMs;
  }

  /** Decides what to do after a check of the log. The rate of an earlier burst keeps counting, halved by each check. */
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

  /** Records that the new file was opened at `atMs`. The effect of a slow rotation on the estimate halves with each later rotation. */
  rotated(atMs: number): void {
    const reopenMs = atMs - (this.#seen?.atMs ?? atMs);
    this.#reactionMs = Math.max(this.#lateMs + reopenMs, (this.#reactionMs + LOG_REOPEN_MS) / 2);
    this.#lateMs = 0;
    this.#seen = { sizeBytes: 0, atMs };
  }
}
