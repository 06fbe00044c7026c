import { remainingMs } from '../framework/remaining-time.ts';

/** Backoff for deleting failed pods: a kubelet that rejects a pod would reject the next one just as quickly (failedPodsBackoff). */
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 15 * 60_000;

type Delay = { delayMs: number; sinceMs: number };

export class FailedPodDelays {
  readonly #delays = new Map<string, Delay>();

  /** Returns the time until the next failed pod with this key may be deleted, in milliseconds. */
  waitMs(key: string, nowMs: number): number {
    const known = this.#delays.get(key);
    return known === undefined ? 0 : remainingMs(known.sinceMs, known.delayMs, nowMs);
  }

  /** Doubles the key's delay because one of its pods is being deleted. Keys without recent failures are forgotten. */
  failed(key: string, nowMs: number): void {
    for (const [other, { sinceMs }] of this.#delays) if (nowMs - sinceMs > 2 * MAX_DELAY_MS) this.#delays.delete(other);
    const known = this.#delays.get(key);
    const delayMs = known === undefined ? FIRST_DELAY_MS : Math.min(known.delayMs * 2, MAX_DELAY_MS);
    this.#delays.set(key, { delayMs, sinceMs: nowMs });
  }
}
