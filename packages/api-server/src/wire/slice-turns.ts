import { setImmediate } from 'node:timers/promises';
import { TurnQueue } from '@podwright/base';

/**
 * Splits long computations, such as the encoding of lists, into slices and runs one slice per event loop iteration. Other requests
 * therefore wait for one slice at a time, however many computations there are, and the callers (`callerOf`) of the computations take turns.
 */
export class SliceTurns {
  /** Computations waiting for their next slice, by caller. */
  readonly #waiting = new TurnQueue<() => void>();
  #isRunning = false;

  /** Waits for a caller's next slice, which must end within the same event loop iteration. */
  async next(caller: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(caller, resolve);
    if (!this.#isRunning) void this.#run();
    await promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.size > 0) {
      await setImmediate();
      this.#waiting.take()?.();
    }
    this.#isRunning = false;
  }
}
