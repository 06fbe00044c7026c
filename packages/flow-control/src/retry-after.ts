/** Maximum value of the `Retry-After` header, in seconds. */
const MAX_SECONDS = 32;

/**
 * Computes the `Retry-After` header of rejected requests, in seconds (apiserver, util/flowcontrol/dropped_requests_tracker.go). The delay
 * doubles while many requests are rejected, and drops by one second in each second with few rejections.
 */
export class RetryAfter {
  /** The number of rejected requests per second, oldest first. */
  readonly #history = new Map<number, number>();
  #seconds = 1;
  /** The second in which the `Retry-After` delay was last doubled. */
  #raisedAt = 0;

  get seconds(): number {
    return this.#seconds;
  }

  /** Counts a rejected request. */
  refused(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    const count = this.#history.get(second);
    this.#history.set(second, (count ?? 0) + 1);
    if (count === undefined) this.#adjust(second);
  }

  /** Adjusts the `Retry-After` delay. Called for the first rejected request of a second, so at most once per second. */
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
