import { setImmediate } from 'node:timers/promises';

/** How long synchronous work may block the event loop before it must yield. */
const BUDGET_MS = 4;

/**
 * Splits long-running synchronous work into time slices. Once `isSpent` is true, the work must await `renew`, which lets other events run.
 */
export class EventLoopBudget {
  #endMs = performance.now() + BUDGET_MS;

  get isSpent(): boolean {
    return performance.now() > this.#endMs;
  }

  /** Yields to the event loop and starts a new slice. Rejects if the signal has aborted. */
  async renew(signal?: AbortSignal): Promise<void> {
    await setImmediate();
    signal?.throwIfAborted();
    this.#endMs = performance.now() + BUDGET_MS;
  }
}
