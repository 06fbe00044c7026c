/** Background refreshes stop after this time without a call: Prometheus scrapes once a minute by default. */
export const STATISTICS_DEMAND_MS = 90_000;

/** Maximum age of statistics, as in upstream: cAdvisor's housekeeping interval. */
export const STATISTICS_CACHED_MS = 10_000;

type Reading<T> = { value: T; atMs: number };

/**
 * An expensive reading that is shared by concurrent callers, cached, and refreshed in the background while there is demand, so that
 * repeated callers do not wait. To clients it behaves like cAdvisor's housekeeping.
 */
export class CachedReading<T> {
  readonly #read: () => Promise<T>;
  #last: Reading<T> | undefined;
  #running: Promise<T> | undefined;
  #next: NodeJS.Timeout | undefined;
  #calledAtMs = 0;

  /** `read` should include the times of measurement in its result, as that is returned unchanged until the next reading. */
  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** The last reading if the caller accepts it, given its age; otherwise a new one. Rejects if that fails. */
  async get(isGood: (value: T, ageMs: number) => boolean): Promise<T> {
    this.#calledAtMs = performance.now();
    const last = this.#last;
    return last !== undefined && isGood(last.value, this.#calledAtMs - last.atMs) ? last.value : await this.#readNow();
  }

  /** A reading that starts now; rejects if it fails. */
  async takeNew(): Promise<T> {
    this.#calledAtMs = performance.now();
    await this.#running?.catch(() => undefined);
    return await this.#readNow();
  }

  /** The cached reading, if any; does not trigger a refresh. */
  get last(): T | undefined {
    return this.#last?.value;
  }

  #readNow(): Promise<T> {
    this.#running ??= this.#take().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #take(): Promise<T> {
    clearTimeout(this.#next);
    const atMs = performance.now();
    const value = await this.#read();
    this.#last = { value, atMs };
    // refresh it when it is too old
    this.#next = setTimeout(() => this.#refresh(), STATISTICS_CACHED_MS).unref();
    return value;
  }

  /** A failed refresh clears the cache, so that the next caller gets a new reading or its error. */
  #refresh(): void {
    if (performance.now() - this.#calledAtMs > STATISTICS_DEMAND_MS) this.#last = undefined;
    else
      void this.#readNow().catch(() => {
        this.#last = undefined;
      });
  }
}
