/** The largest value of the header. */
const MAX_SECONDS = 32;

/**
 * The time after which clients of refused requests shall try again (apiserver, util/flowcontrol/dropped_requests_tracker.go): it doubles
 * while many requests are refused, and shrinks second by second afterwards.
 */
export class RetryAfter {
  /** Numbers of refused requests by second, oldest first. */
  readonly #history = new Map<number, number>();
  #seconds = 1;
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

  /** Called once in a second with refused requests. */
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
