import { LEAST_LOG_LOOK_MS, MOST_LOG_LOOK_MS } from './limits.ts';

/** A log that grows fast is rotated by as much before its limit as it grows meanwhile, but by no more than this share of the limit. */
const MOST_LOG_SHARE_AHEAD = 0.3;

/** How long a log is taken to grow from a look to the runtime's opening a new file, before that has been measured. */
const LOG_REOPEN_MS = 20;

/** A log that was written to is looked at after as long as so many bytes a millisecond take to fill it. */
const MOST_LOG_BYTES_A_MS = 200_000;

/** Rotate the log now, or look at it again when something has been written and this time is over. */
export type LogVerdict = { kind: 'rotate' } | { kind: 'look-again'; afterMs: number };

/**
 * How fast a log grows, and how long it takes until a new one is there: a rotation must begin before the log is full for it to stay
 * near its limit. Times are monotonic milliseconds.
 */
export class LogGrowth {
  readonly #maxSizeBytes: number;
  #seen: { sizeBytes: number; atMs: number } | undefined;
  #bytesAMs = 0;
  #dueAtMs: number | undefined;
  /** The longest that a look has come late since the log was rotated. */
  #lateMs = 0;
  /** Time from when a look is due until the new file is there, as measured lately. */
  #reactionMs = LOG_REOPEN_MS;

  constructor(maxSizeBytes: number) {
    this.#maxSizeBytes = maxSizeBytes;
  }

  /** When the next look should be. */
  due(atMs: number): void {
    this.#dueAtMs = atMs;
  }

  /** Judges a look at the log. After a burst its speed still counts, halved at each look. */
  judge(sizeBytes: number, atMs: number): LogVerdict {
    if (this.#dueAtMs !== undefined) this.#lateMs = Math.max(this.#lateMs, atMs - this.#dueAtMs);
    this.#dueAtMs = undefined;
    const { sizeBytes: before, atMs: beforeMs } = this.#seen ?? { sizeBytes, atMs: atMs - 1 };
    const bytesAMs = Math.max(0, sizeBytes - before) / Math.max(1, atMs - beforeMs);
    this.#bytesAMs = Math.max(bytesAMs, this.#bytesAMs / 2);
    this.#seen = { sizeBytes, atMs };
    const reactionMs = Math.max(this.#reactionMs, this.#lateMs);
    const aheadBytes = Math.min(this.#bytesAMs * reactionMs, this.#maxSizeBytes * MOST_LOG_SHARE_AHEAD);
    const leftBytes = this.#maxSizeBytes - aheadBytes - sizeBytes;
    if (sizeBytes > 0 && leftBytes <= 0) return { kind: 'rotate' };
    const afterMs = Math.min(MOST_LOG_LOOK_MS, Math.max(LEAST_LOG_LOOK_MS, leftBytes / MOST_LOG_BYTES_A_MS));
    return { kind: 'look-again', afterMs };
  }

  /** The log is a new file since `atMs`. The effect of one slow rotation fades with each rotation after it. */
  rotated(atMs: number): void {
    const reopenMs = atMs - (this.#seen?.atMs ?? atMs);
    this.#reactionMs = Math.max(this.#lateMs + reopenMs, (this.#reactionMs + LOG_REOPEN_MS) / 2);
    this.#lateMs = 0;
    this.#seen = { sizeBytes: 0, atMs };
  }
}
