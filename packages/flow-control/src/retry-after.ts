/** The maximum of the header `Retry-After`. */
const MAX_SECONDS = 32;

/**
 * Computes the header `Retry-After` of refused requests, in seconds (apiserver, util/flowcontrol/dropped_requests_tracker.go). The time
 * doubles while many requests are refused. In each second in which few are refused, it becomes one second shorter.
 */
export class RetryAfter {
  /** The number of refused requests by second, oldest first. */
  readonly #history = new Map<number, number>();
  #seconds = 1;
  /** The second in which the time was doubled. */
  #raisedAt = 0;

  get seconds(): number {
    return this.#seconds;
  }

  /** Counts a refused request. */
  refused(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    const count = this.#history.get(second);
    this.#history.set(second, (count ?? 0) + 1);
    if (count === undefined) this.#adjust(second);
  }

  /** Changes the time. Called for the first refused request of a second, so at most once in a second. */
  #adjust(second: number): void {
    let refused = 0;
    for (const [at, count] of this.#history) {
      if (second - at > MAX_SECONDS || at > second) this.#history.delete(at);
      else if (at < second && second - at <= this.#seconds) refused += count;
    }
    if (second - this.#raisedAt >= this.#seconds && refused >= 3 * this.#seconds) {
      this.#seconds = Math.min(2 * this.#seconds, MAX_SECONDS);
      this.#raisedAt = second;
    } else if (refused < this.#seconds && this.#seconds > 1) this.#seconds -= 1;
  }
}
