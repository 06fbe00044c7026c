import type { StoreEvent, StoreWatch } from '../store/object-store.ts';
import { SlowWatcher } from '../store/store-errors.ts';

type Result = readonly StoreEvent[] | 'end';

/** Reads a watch of the store with a time limit for each batch. */
export class WatchReader {
  readonly #watch: StoreWatch;
  readonly #iterator: AsyncIterator<readonly StoreEvent[]>;
  #pending: Promise<Result> | undefined;
  /** A batch that was read and not returned yet. */
  #read: Result | undefined;

  constructor(watch: StoreWatch) {
    this.#watch = watch;
    this.#iterator = watch[Symbol.asyncIterator]();
  }

  /** A revision up to which all changes have been returned; undefined while a batch was read that has not been returned. */
  get progress(): number | undefined {
    return this.#read === undefined ? this.#watch.progress : undefined;
  }

  /** The next batch, `end` after the last one, or `time` if the limit comes first. */
  async next(limit: Promise<'time'>): Promise<Result | 'time'> {
    this.#pending ??= this.#take();
    const first = await Promise.race([this.#pending, limit]);
    const result = this.#read ?? first;
    if (result !== 'time') {
      this.#pending = undefined;
      this.#read = undefined;
    }
    return result;
  }

  /** A watch that was too slow ends; its client continues from the last event that it received. */
  async #take(): Promise<Result> {
    try {
      const { done, value } = await this.#iterator.next();
      this.#read = done ? 'end' : value;
    } catch (error) {
      if (!(error instanceof SlowWatcher)) throw error;
      this.#read = 'end';
    }
    return this.#read;
  }
}
