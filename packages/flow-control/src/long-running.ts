/** Limits the number of requests without a timeout, such as watches and logs, that each caller may have at a time. They need no seats. */
export class LongRunning {
  readonly #maxOfCaller: () => number;
  readonly #counts = new Map<string, number>();

  /** `maxOfCaller` returns the maximum at the time of a request. */
  constructor(maxOfCaller: () => number) {
    this.#maxOfCaller = maxOfCaller;
  }

  /** Counts a request until the returned value is disposed. Returns undefined if the caller has `maxOfCaller` requests already. */
  enter(caller: string): Disposable | undefined {
    const count = this.#counts.get(caller) ?? 0;
    if (count >= this.#maxOfCaller()) return undefined;
    this.#counts.set(caller, count + 1);
    return { [Symbol.dispose]: () => this.#leave(caller) };
  }

  #leave(caller: string): void {
    const count = this.#counts.get(caller)! - 1;
    if (count > 0) this.#counts.set(caller, count);
    else this.#counts.delete(caller);
  }
}
