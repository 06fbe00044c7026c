/** A fast growing log is rotated before its limit, by as much as it grows during the rotation, but at most this share of the limit. */
const MAX_LOG_SHARE_AHEAD = 0.3;

/** Initial estimate of the time from a check until the runtime has opened the new file. */
const LOG_REOPEN_MS = 20;

/** A log that was written to is checked after the time in which this many bytes per millisecond would fill it. */
const MAX_LOG_BYTES_PER_MS = 200_000;

/** Bounds of the time between two checks of a log. */
export const MIN_LOG_CHECK_MS = 2;
export const MAX_LOG_CHECK_MS = 1000;

/** Rotate the log now, or check it again this long after the next write. */
export type LogVerdict = { kind: 'rotate' } | { kind: 'check-again'; afterMs: number };

/**
 * Estimates how fast a log grows and how long a rotation takes: to keep the log near its limit, the rotation must start before it is
 * full. Times are monotonic milliseconds.
 */
export class LogGrowth {
  readonly #maxSizeBytes: number;
  #seen: { sizeBytes: number; atMs: number } | undefined;
  #bytesAMs = 0;
  #dueAtMs: number | undefined;
  /** The longest delay of a check since the last rotation. */
  #lateMs = 0;
  /** Measured time from when a check is due until the new file is open. */
  #reactionMs = LOG_REOPEN_MS;

  constructor(maxSizeBytes: number) {
    this.#maxSizeBytes = maxSizeBytes;
  }

  /** Sets when the next check should happen. */
  due(atMs: number): void {
    this.#dueAtMs = atMs;
  }

  /** Decides after a check of the log. The rate of an earlier burst still counts, halved with each check. */
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

  /** Records that the new file was opened at `atMs`. The effect of a slow rotation fades with each later one. */
  rotated(atMs: number): void {
    const reopenMs = atMs - (this.#seen?.atMs ?? atMs);
    this.#reactionMs = Math.max(this.#lateMs + reopenMs, (this.#reactionMs + LOG_REOPEN_MS) / 2);
    this.#lateMs = 0;
    this.#seen = { sizeBytes: 0, atMs };
  }
}
