import { setImmediate } from 'node:timers/promises';

/** How long work may hold the thread before others get a turn. */
const SLICE_MS = 4;

/** The time of the thread that long synchronous work takes at once: where it `isOver`, `next` lets others have a turn. */
export class ThreadSlice {
  #endMs = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() > this.#endMs;
  }

  /** Rejects if the signal has aborted. */
  async next(signal?: AbortSignal): Promise<void> {
    await setImmediate();
    signal?.throwIfAborted();
    this.#endMs = performance.now() + SLICE_MS;
  }
}
