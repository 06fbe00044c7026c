/** `refreshMs`: age at which a result is refreshed. `demandMs`: refreshes stop after this long without a call. */
export type CacheTimes = { refreshMs: number; demandMs: number };

type Reading<T> = { value: T; atMs: number };

/**
 * An expensive measurement shared by concurrent callers. The result is cached and refreshed in the background while there is demand, so
 * repeated callers do not have to wait.
 */
export class CachedReading<T> {
  readonly #read: () => Promise<T>;
  readonly #times: CacheTimes;
  #last: Reading<T> | undefined;
  #running: Promise<T> | undefined;
  #next: NodeJS.Timeout | undefined;
  #calledAtMs = 0;

  /** The result of `read` should include its own timestamps, because it is returned as is until the next measurement. */
  constructor(read: () => Promise<T>, times: CacheTimes) {
    this.#read = read;
    this.#times = times;
  }

  /** Returns the cached result if the caller accepts it given its age; otherwise takes a new measurement. Rejects if that fails. */
  async get(isGood: (value: T, ageMs: number) => boolean): Promise<T> {
    this.#calledAtMs = performance.now();
    const last = this.#last;
    return last !== undefined && isGood(last.value, this.#calledAtMs - last.atMs) ? last.value : await this.#readNow();
  }

  /** Takes a measurement that starts no earlier than this call. Rejects if it fails. */
  async takeNew(): Promise<T> {
    this.#calledAtMs = performance.now();
    await this.#running?.catch(() => undefined);
    return await this.#readNow();
  }

  /** Returns the cached result, if any, without triggering a refresh. */
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
    this.#next = setTimeout(() => this.#refresh(), this.#times.refreshMs).unref();
    return value;
  }

  /** Refreshes the cache. A failure clears it, so that the next caller gets either a new result or the error. */
  #refresh(): void {
    if (performance.now() - this.#calledAtMs > this.#times.demandMs) this.#last = undefined;
    else
      void this.#readNow().catch(() => {
        this.#last = undefined;
      });
  }
}
