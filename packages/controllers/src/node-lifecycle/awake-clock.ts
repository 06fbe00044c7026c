/** A longer time between two reads does not count, in milliseconds. The clock is read several times in this time. */
const LONGEST_STEP_MS = 15_000;

/**
 * Measures the time in which this process could receive heartbeats of nodes. Time in which the process was stopped or its machine was
 * suspended does not count, because heartbeats were missed then. Changes of the system time have no effect.
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

  /** Returns the counted time in milliseconds. Must be called more often than every `LONGEST_STEP_MS`. */
  now(): number {
    const ms = this.#monotonicMs();
    const step = ms - this.#readMs;
    this.#readMs = ms;
    if (step <= LONGEST_STEP_MS) this.#awakeMs += step;
    return this.#awakeMs;
  }
}
