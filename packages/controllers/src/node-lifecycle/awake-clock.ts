/**
 * Maximum time between two reads of the clock that counts as awake, in milliseconds. The clock is read several times within this period, so
 * a longer gap means that the process could not run.
 */
const LONGEST_STEP_MS = 15_000;

/**
 * Measures how long this process has been able to receive node heartbeats. Time while the process was stopped or its machine was suspended
 * does not count, because heartbeats were missed. Changes to the system time have no effect.
 */
export class AwakeClock {
  readonly #monotonicMs: () => number;
  #readMs: number;
  #awakeMs = 0;

  /** `monotonicMs` returns a monotonic time in milliseconds. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#readMs = monotonicMs();
  }

  /**
   * Returns how long the process has been able to receive heartbeats, in milliseconds. Must be called at intervals shorter than
   * `LONGEST_STEP_MS`.
   */
  now(): number {
    const ms = this.#monotonicMs();
    const step = ms - this.#readMs;
    this.#readMs = ms;
    if (step <= LONGEST_STEP_MS) this.#awakeMs += step;
    return this.#awakeMs;
  }
}
