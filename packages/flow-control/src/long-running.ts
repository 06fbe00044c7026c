/** Limits how many requests without a timeout, such as watches and logs, each caller may have at a time. They do not occupy seats. */
export class LongRunning {
  readonly #maxOfCaller: () => number;
  readonly #max: number;
  readonly #counts = new Map<string, number>();
  #count = 0;

  /**
   * `maxOfCaller` returns the current maximum for each caller. `max`: maximum for all callers together. A caller may have at most as many
   * requests as there are free places left, so a single caller leaves half of the places to others.
   */
  constructor({ maxOfCaller = () => Number.POSITIVE_INFINITY, max = Number.POSITIVE_INFINITY }) {
    this.#maxOfCaller = maxOfCaller;
    this.#max = max;
  }

  /**
   * Counts a request until the returned value is disposed. Returns `undefined` if the caller, or all callers together, already have the
   * maximum.
   */
  enter(caller: string): Disposable | undefined {
    const count = this.#counts.get(caller) ?? 0;
    if (count >= this.#maxOfCaller() || count >= this.#max - this.#count) return undefined;
    this.#counts.set(caller, count + 1);
    this.#count += 1;
    return { [Symbol.dispose]: () => this.#leave(caller) };
  }

  #leave(caller: string): void {
    const count = this.#counts.get(caller)! - 1;
    if (count > 0) this.#counts.set(caller, count);
    else this.#counts.delete(caller);
    this.#count -= 1;
  }
}
