import { raceAbort } from './deadline.ts';

/** Runs work one at a time a key, in order of arrival; different keys run at once. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** A caller whose signal aborts before its turn leaves at once with the signal's reason; its work is not begun. */
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
 * Lets at most `limit` pieces of work run at once; the others wait in order of arrival. With a `patienceMs`, work that takes
 * longer than that goes on and is not counted any more: it holds up no other work.
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

  /** Begins so many of those that wait, beyond the limit. */
  admit(most: number): void {
    for (const begin of [...this.#waiting].slice(0, most)) {
      this.#running++;
      this.#waiting.delete(begin);
      begin();
    }
  }

  /** A caller whose signal aborts before its turn leaves the queue at once with the signal's reason; its work is not begun. */
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
      signal?.throwIfAborted(); // it may have aborted between the turn and now
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

  /** Gives the place of work that has ended to the first of those that wait; one beyond the limit is given to none. */
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
