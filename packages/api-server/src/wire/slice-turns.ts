import { setImmediate } from 'node:timers/promises';

/**
 * Splits long computations, such as the encoding of lists, into slices and runs one slice per event loop iteration. Other requests
 * therefore wait for one slice at a time, however many computations there are, and the callers (`callerOf`) of the computations take turns.
 */
export class SliceTurns {
  /** Computations waiting for their next slice, by caller. The caller whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isRunning = false;

  /** Waits for a caller's next slice, which must end within the same event loop iteration. */
  async next(caller: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const own = this.#waiting.get(caller);
    if (own === undefined) this.#waiting.set(caller, [resolve]);
    else own.push(resolve);
    if (!this.#isRunning) void this.#run();
    await promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.size > 0) {
      await setImmediate();
      const [caller, slices] = this.#waiting.entries().next().value!;
      this.#waiting.delete(caller);
      const first = slices.shift()!;
      if (slices.length > 0) this.#waiting.set(caller, slices); // behind the others
      first();
    }
    this.#isRunning = false;
  }
}
