import { PodwrightError } from '@podwright/base';
import { MAX_REVIEWS_AT_ONCE } from './limits.ts';

/** An answer, and how long it may be given again. */
export type Reviewed<T> = { value: T; keepMs: number };

type Entry<T> = { value: T; untilMs: number };

/** Answers of an API server to reviews: kept for a time, asked once for all who wait, the least used go first. Errors are not kept. */
export class ReviewCache<T> {
  readonly #maxEntries: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, Entry<T>>();
  readonly #asked = new Map<string, Promise<T>>();

  constructor(maxEntries: number, now: () => number = () => performance.now()) {
    this.#maxEntries = maxEntries;
    this.#now = now;
  }

  /** Rejects with `resource_exhausted` when too many are under way. */
  async answer(key: string, ask: () => Promise<Reviewed<T>>): Promise<T> {
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#now() < kept.untilMs) {
      this.#keep(key, kept);
      return kept.value;
    }
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    if (this.#asked.size >= MAX_REVIEWS_AT_ONCE)
      throw new PodwrightError('resource_exhausted', `more than ${MAX_REVIEWS_AT_ONCE} reviews are under way`);
    const review = this.#ask(key, ask).finally(() => this.#asked.delete(key));
    this.#asked.set(key, review);
    return review;
  }

  async #ask(key: string, ask: () => Promise<Reviewed<T>>): Promise<T> {
    const { value, keepMs } = await ask();
    if (keepMs > 0) this.#keep(key, { value, untilMs: this.#now() + keepMs });
    return value;
  }

  /** As the one that was used last. */
  #keep(key: string, entry: Entry<T>): void {
    this.#kept.delete(key);
    this.#kept.set(key, entry);
    if (this.#kept.size > this.#maxEntries) this.#kept.delete(this.#kept.keys().next().value!);
  }
}
