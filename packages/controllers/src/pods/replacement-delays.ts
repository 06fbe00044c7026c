/** Delays before failed pods are replaced: a kubelet that rejects a pod, or a node that evicts it, would do the same with the next one. */
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 5 * 60_000;
/** A pod that has lived for longer than twice the delay and this time has failed for another reason: the delays begin again. */
const GRACE_MS = 10_000;

type Delay = { replaced: ReadonlySet<string>; delayMs: number; sinceMs: number };

/** One for all owners of a controller. It is in memory: after a restart, the first replacement is made at once. */
export class ReplacementDelays {
  readonly #delays = new Map<string, Delay>();

  /**
   * Returns the time until the failed pods with these UIDs may be replaced, in milliseconds. 0 means now; the next failure then waits for twice
   * as long. `key` names what the pods belong to; the first failure of a key is replaced at once.
   */
  take(key: string, failed: readonly string[], nowMs: number): number {
    const known = this.#delays.get(key);
    if (known !== undefined && failed.every((uid) => known.replaced.has(uid))) return 0;
    if (failed.length === 0) return 0;
    const isOld = known === undefined || nowMs - known.sinceMs > 2 * known.delayMs + GRACE_MS;
    const waitMs = isOld ? 0 : Math.max(0, known.sinceMs + known.delayMs - nowMs);
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
