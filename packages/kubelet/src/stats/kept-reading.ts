/** They are read ahead of whoever asks next, unless nobody has asked for this long: Prometheus asks once a minute by default. */
export const STATISTICS_WANTED_MS = 90_000;

/** Statistics are good for this long, as upstream's are: cAdvisor's housekeeping interval. */
export const STATISTICS_KEPT_MS = 10_000;

type Reading<T> = { value: T; atMs: number };

/**
 * A look at things that takes long, shared by all who ask at once and by those who ask while it is young: cAdvisor's housekeeping
 * as far as its clients see it. While somebody asks it is taken anew in time, so that nobody who asks again waits for it.
 */
export class KeptReading<T> {
  readonly #read: () => Promise<T>;
  #last: Reading<T> | undefined;
  #running: Promise<T> | undefined;
  #next: NodeJS.Timeout | undefined;
  #askedAtMs = 0;

  /** What `read` gives has the times at which it was measured: it is returned unchanged until the next reading. */
  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** The last reading if the caller accepts it, given its age; otherwise a new one. Rejects if that fails. */
  async get(isGood: (value: T, ageMs: number) => boolean): Promise<T> {
    this.#askedAtMs = performance.now();
    const last = this.#last;
    return last !== undefined && isGood(last.value, this.#askedAtMs - last.atMs) ? last.value : await this.#readNow();
  }

  /** A reading that begins now, with its errors. */
  async takeNew(): Promise<T> {
    this.#askedAtMs = performance.now();
    await this.#running?.catch(() => undefined);
    return await this.#readNow();
  }

  /** The last reading, while it is kept; reading it does not request a new one. */
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
    // it is replaced when it is old: it is returned unchanged until the next reading
    this.#next = setTimeout(() => this.#refresh(), STATISTICS_KEPT_MS).unref();
    return value;
  }

  /** Whoever asks next has the error of one that fails. */
  #refresh(): void {
    if (performance.now() - this.#askedAtMs > STATISTICS_WANTED_MS) this.#last = undefined;
    else
      void this.#readNow().catch(() => {
        this.#last = undefined;
      });
  }
}
