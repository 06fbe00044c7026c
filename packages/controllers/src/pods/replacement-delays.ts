import { remainingMs } from '../framework/remaining-time.ts';

/**
 * Delay after the first failed pod, in milliseconds, doubled with each further one up to `MAX_DELAY_MS`: a kubelet that has rejected or
 * evicted a pod would often do the same with its replacement.
 */
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 5 * 60_000;
/**
 * If a pod fails later than twice the delay plus this time, in milliseconds, after the last replacement, that replacement has run properly,
 * so the backoff starts over.
 */
const GRACE_MS = 10_000;

type Delay = { replaced: ReadonlySet<string>; delayMs: number; sinceMs: number };

/** The backoff state of all owners handled by a controller. It is in memory, so the first replacement after a restart is not delayed. */
export class ReplacementDelays {
  readonly #delays = new Map<string, Delay>();

  /**
   * Returns the time until the failed pods with these UIDs may be replaced, in milliseconds. If it is 0, the caller must replace them now,
   * and the delay for the next failure doubles. `key` identifies the owner of the pods. An owner's first failure causes no delay.
   */
  take(key: string, failed: readonly string[], nowMs: number): number {
    const known = this.#delays.get(key);
    if (known !== undefined && failed.every((uid) => known.replaced.has(uid))) return 0;
    if (failed.length === 0) return 0;
    const isOld = known === undefined || nowMs - known.sinceMs > 2 * known.delayMs + GRACE_MS;
    const waitMs = isOld ? 0 : remainingMs(known.sinceMs, known.delayMs, nowMs);
    if (waitMs > 0) return waitMs;
    const delayMs = isOld ? FIRST_DELAY_MS : Math.min(2 * known.delayMs, MAX_DELAY_MS);
    this.#forget(nowMs);
    this.#delays.set(key, { replaced: new Set(failed), delayMs, sinceMs: nowMs });
    return 0;
  }

  #forget(nowMs: number): void {
    for (const [key, { sinceMs }] of this.#delays) if (nowMs - sinceMs > 3 * MAX_DELAY_MS) this.#delays.delete(key);
  }
}
