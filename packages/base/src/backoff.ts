/**
 * How a delay grows: `initialMs`, doubled at each failure, at most `maxMs`; from the beginning again when nothing failed for
 * `resetMs`, twice the maximum unless given.
 */
export type BackoffPolicy = { initialMs: number; maxMs: number; resetMs?: number };

type Entry = { delayMs: number; lastAtMs: number };

/**
 * Exponential backoff a key, with the kubelet's rules: the delay doubles at each failure and is forgotten
 * when nothing failed for the policy's time (client-go's flowcontrol.Backoff: twice the maximum).
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
   * Records a failure of `key` and returns the delay in force from now on. `failedAtMs` is when it failed, if that
   * was not just now: what ran well for long enough before it begins anew.
   */
  next(key: string, failedAtMs?: number): number {
    const now = this.#now();
    const entry = this.#entries.get(key);
    const expired = entry === undefined || this.#isExpired(entry, failedAtMs ?? now);
    const delayMs = expired ? this.#policy.initialMs : Math.min(entry.delayMs * 2, this.#policy.maxMs);
    this.#entries.set(key, { delayMs, lastAtMs: now });
    return delayMs;
  }

  /** The delay in force for `key`, 0 if there is none. */
  delayOf(key: string): number {
    return this.#entries.get(key)?.delayMs ?? 0;
  }

  /** Milliseconds still to wait since `sinceMs` (the last failure unless given), 0 if none. */
  remainingMs(key: string, sinceMs?: number): number {
    const entry = this.#entries.get(key);
    if (entry === undefined || (sinceMs !== undefined && this.#isExpired(entry, sinceMs))) return 0;
    return Math.max(0, (sinceMs ?? entry.lastAtMs) + entry.delayMs - this.#now());
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  /** Drops every entry that is forgotten. */
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
