import { setImmediate } from 'node:timers/promises';

/** How long work may hold the event loop before others get a turn. */
const BUDGET_MS = 4;

/** The time on the event loop that long synchronous work takes at once: where it `isSpent`, `renew` lets others have a turn. */
export class EventLoopBudget {
  #endMs = performance.now() + BUDGET_MS;

  get isSpent(): boolean {
    return performance.now() > this.#endMs;
  }

  /** Rejects if the signal has aborted. */
  async renew(signal?: AbortSignal): Promise<void> {
    await setImmediate();
    signal?.throwIfAborted();
    this.#endMs = performance.now() + BUDGET_MS;
  }
}
