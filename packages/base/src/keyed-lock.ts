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
 * longer than that goes on and is not counted any more: it holds nobody up.
 */
export class Limiter {
  readonly #limit: number;
  readonly #patienceMs: number | undefined;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number, patienceMs?: number) {
    this.#limit = limit;
    this.#patienceMs = patienceMs;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    let leave = () => {
      leave = () => undefined;
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    };
    const timer = this.#patienceMs === undefined ? undefined : setTimeout(() => leave(), this.#patienceMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      leave();
    }
  }
}
