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
   * Counts a request until the returned value is disposed. `weight`: as how many requests it counts. Returns `undefined` if the caller, or
   * all callers together, would have more than the maximum.
   */
  enter(caller: string, weight = 1): Disposable | undefined {
    const count = (this.#counts.get(caller) ?? 0) + weight;
    if (count > this.#maxOfCaller() || count > this.#max - this.#count) return undefined;
    this.#counts.set(caller, count);
    this.#count += weight;
    return { [Symbol.dispose]: () => this.#leave(caller, weight) };
  }

  #leave(caller: string, weight: number): void {
    const count = this.#counts.get(caller)! - weight;
    if (count > 0) this.#counts.set(caller, count);
    else this.#counts.delete(caller);
    this.#count -= weight;
  }
}
