/** Longest time between two readings that counts, in milliseconds: several times the period with which the clock is read. */
const LONGEST_STEP_MS = 15_000;

/**
 * Measures the time in which this process was able to receive what nodes report. A process that was stopped, or whose machine was suspended,
 * has missed their heartbeats, so that time does not count against them. It does not depend on the time of day.
 */
export class AwakeClock {
  readonly #monotonicMs: () => number;
  #readMs: number;
  #awakeMs = 0;

  /** `monotonicMs` returns a time that never goes back, in milliseconds. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#readMs = monotonicMs();
  }

  /** Returns the time since the first reading, in milliseconds. Must be called more often than every `LONGEST_STEP_MS`. */
  now(): number {
    const ms = this.#monotonicMs();
    const step = ms - this.#readMs;
    this.#readMs = ms;
    if (step <= LONGEST_STEP_MS) this.#awakeMs += step;
    return this.#awakeMs;
  }
}
