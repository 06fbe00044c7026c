/** Weight of the earlier value when the demand is smoothed. It halves the effect of a demand in five minutes. */
const SMOOTHING = 0.977;

/** Seats that a priority level could use, measured over the time between two adjustments. */
export type DemandSummary = {
  /** The highest demand. */
  highest: number;
  /** The time-weighted average and standard deviation. */
  average: number;
  deviation: number;
  /** The sum of average and deviation, smoothed over several measurements: rises at once, and falls slowly. */
  smoothed: number;
};

/** Measures how many seats the waiting and running requests of a priority level need (apiserver, util/flowcontrol, seatDemandStats). */
export class SeatDemand {
  readonly #now: () => number;
  #seats = 0;
  #highest = 0;
  #lastMs: number;
  #seconds = 0;
  /** The integrals of the demand and of its square over time. */
  #integral = 0;
  #squares = 0;
  #summary: DemandSummary = { highest: 0, average: 0, deviation: 0, smoothed: 0 };

  /** `now` returns the time of a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
    this.#lastMs = now();
  }

  /** Adds seats to the demand, or removes them. */
  add(seats: number): void {
    this.#advance();
    this.#seats += seats;
    this.#highest = Math.max(this.#highest, this.#seats);
  }

  /** Ends a measurement and begins the next one. */
  summarize(): DemandSummary {
    this.#advance();
    const { average, deviation, smoothed } = this.#summary;
    this.#summary = { highest: this.#highest, average, deviation, smoothed };
    if (this.#seconds > 0) {
      const mean = this.#integral / this.#seconds;
      const spread = Math.sqrt(Math.max(0, this.#squares / this.#seconds - mean * mean));
      const envelope = mean + spread;
      const slow = SMOOTHING * smoothed + (1 - SMOOTHING) * envelope;
      this.#summary = {
        highest: this.#highest,
        average: mean,
        deviation: spread,
        smoothed: Math.max(envelope, slow),
      };
    }
    this.#highest = this.#seats;
    [this.#seconds, this.#integral, this.#squares] = [0, 0, 0];
    return this.#summary;
  }

  #advance(): void {
    const nowMs = this.#now();
    const seconds = (nowMs - this.#lastMs) / 1000;
    this.#lastMs = nowMs;
    this.#seconds += seconds;
    this.#integral += this.#seats * seconds;
    this.#squares += this.#seats * this.#seats * seconds;
  }
}
