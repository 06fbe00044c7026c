/**
 * A delay starts at `initialMs`, doubles with each failure up to `maxMs`, and resets to `initialMs` after `resetMs` without a failure
 * (default: twice `maxMs`).
 */
export type BackoffPolicy = { initialMs: number; maxMs: number; resetMs?: number };

type Entry = { delayMs: number; lastAtMs: number };

/**
 * Exponential backoff per key, with the kubelet's rules: the delay doubles with each failure and expires after `resetMs` without one (by
 * default twice the maximum, like client-go's flowcontrol.Backoff).
 */
export class Backoff {
  readonly #policy: BackoffPolicy;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();

  constructor(policy: BackoffPolicy, now: () => number = () => performance.now()) {
    this.#policy = policy;
    this.#now = now;
  }

  /**
   * Records a failure of `key` at `failedAtMs` (default: now) and returns the new delay, which is `initialMs` if the key's entry had
   * expired by then.
   */
  next(key: string, failedAtMs?: number): number {
    const now = this.#now();
    const entry = this.#entries.get(key);
    const expired = entry === undefined || this.#isExpired(entry, failedAtMs ?? now);
    const delayMs = expired ? this.#policy.initialMs : Math.min(entry.delayMs * 2, this.#policy.maxMs);
    this.#entries.set(key, { delayMs, lastAtMs: now });
    return delayMs;
  }

  /** Returns the current delay of `key` in ms, or 0 if there is none. */
  delayOf(key: string): number {
    return this.#entries.get(key)?.delayMs ?? 0;
  }

  /** Returns the remaining delay in ms, counted from `sinceMs` (default: the last failure), or 0 if there is none. */
  remainingMs(key: string, sinceMs?: number): number {
    const entry = this.#entries.get(key);
    if (entry === undefined || (sinceMs !== undefined && this.#isExpired(entry, sinceMs))) return 0;
    return Math.max(0, (sinceMs ?? entry.lastAtMs) + entry.delayMs - this.#now());
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  /** Removes the entries of all keys whose delay has expired. */
  collectGarbage(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#isExpired(entry, this.#now())) this.#entries.delete(key);
    }
  }

  #isExpired(entry: Entry, atMs: number): boolean {
    const { maxMs, resetMs = 2 * maxMs } = this.#policy;
    return atMs - entry.lastAtMs > resetMs;
  }
}
