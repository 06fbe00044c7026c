import { raceAbort } from './deadline.ts';

/** Runs work with the same key one at a time, in order of arrival. Work with different keys runs concurrently. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs `work` when its turn comes. If the signal aborts first, rejects immediately with its reason and never starts the work. */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const previous = this.#tails.get(key) ?? Promise.resolve();
    const current = previous.then(() => {
      signal?.throwIfAborted();
      return work();
    });
    const tail: Promise<void> = current.then(
      () => this.#forget(key, tail),
      () => this.#forget(key, tail),
    );
    this.#tails.set(key, tail);
    if (signal !== undefined) await raceAbort(previous, signal);
    return await current;
  }

  #forget(key: string, tail: Promise<unknown>): void {
    if (this.#tails.get(key) === tail) this.#tails.delete(key);
  }
}

/**
 * Limits work to `limit` concurrent calls; further calls wait in order of arrival. If `patienceMs` is set, work that takes longer continues
 * but no longer counts toward the limit, so it does not block other work.
 */
export class Limiter {
  readonly #limit: number;
  readonly #patienceMs: number | undefined;
  #running = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number, patienceMs?: number) {
    this.#limit = limit;
    this.#patienceMs = patienceMs;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Starts up to `most` waiting calls immediately, even if that exceeds the limit. */
  admit(most: number): void {
    for (const begin of [...this.#waiting].slice(0, most)) {
      this.#running++;
      this.#waiting.delete(begin);
      begin();
    }
  }

  /** Runs `work` when its turn comes. If the signal aborts first, rejects immediately with its reason and never starts the work. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#running >= this.#limit) await this.#turn(signal);
    else this.#running++;
    let leave = () => {
      leave = () => undefined;
      this.#passOn();
    };
    const timer = this.#patienceMs === undefined ? undefined : setTimeout(() => leave(), this.#patienceMs);
    try {
      signal?.throwIfAborted(); // the signal may have aborted since this work's turn came
      return await work();
    } finally {
      clearTimeout(timer);
      leave();
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(begin);
        reject(signal?.reason);
      };
      const begin = () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      this.#waiting.add(begin);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /**
   * Passes the slot of finished work to the first waiting call. Frees the slot if no call is waiting, or if more calls are running than the
   * limit allows.
   */
  #passOn(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#running > this.#limit) {
      this.#running--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
