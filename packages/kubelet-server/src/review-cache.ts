import { PodwrightError } from '@podwright/base';
import { MAX_REVIEWS_AT_ONCE } from './limits.ts';

/** A review's result, and how long it may be cached. */
export type Reviewed<T> = { value: T; keepMs: number };

type Entry<T> = { value: T; untilMs: number };

/** An LRU cache for the results of reviews by the API server. Concurrent callers share one review. Errors are not cached. */
export class ReviewCache<T> {
  readonly #maxEntries: number;
  readonly #now: () => number;
  readonly #cached = new Map<string, Entry<T>>();
  readonly #pending = new Map<string, Promise<T>>();

  constructor(maxEntries: number, now: () => number = () => performance.now()) {
    this.#maxEntries = maxEntries;
    this.#now = now;
  }

  /** Returns the cached result, or calls `ask` to request a review. Rejects with `resource_exhausted` if too many reviews are in flight. */
  async answer(key: string, ask: () => Promise<Reviewed<T>>): Promise<T> {
    const cached = this.#cached.get(key);
    if (cached !== undefined && this.#now() < cached.untilMs) {
      this.#store(key, cached);
      return cached.value;
    }
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;
    if (this.#pending.size >= MAX_REVIEWS_AT_ONCE)
      throw new PodwrightError('resource_exhausted', `more than ${MAX_REVIEWS_AT_ONCE} reviews are in flight`);
    const review = this.#ask(key, ask).finally(() => this.#pending.delete(key));
    this.#pending.set(key, review);
    return review;
  }

  async #ask(key: string, ask: () => Promise<Reviewed<T>>): Promise<T> {
    const { value, keepMs } = await ask();
    if (keepMs > 0) this.#store(key, { value, untilMs: this.#now() + keepMs });
    return value;
  }

  #store(key: string, entry: Entry<T>): void {
    this.#cached.delete(key);
    this.#cached.set(key, entry);
    if (this.#cached.size > this.#maxEntries) this.#cached.delete(this.#cached.keys().next().value!);
  }
}
