import type { StoreEvent, StoreWatch } from '../store/object-store.ts';
import { SlowWatcher } from '../store/store-errors.ts';

type Result = readonly StoreEvent[] | 'end';

/** Reads batches from a store watch, with a time limit for each. */
export class WatchReader {
  readonly #watch: StoreWatch;
  readonly #iterator: AsyncIterator<readonly StoreEvent[]>;
  #pending: Promise<Result> | undefined;
  /** A batch that has been read but not yet returned. */
  #read: Result | undefined;

  constructor(watch: StoreWatch) {
    this.#watch = watch;
    this.#iterator = watch[Symbol.asyncIterator]();
  }

  /** The revision up to which all changes have been returned; `undefined` while a batch has been read but not yet returned. */
  get progress(): number | undefined {
    return this.#read === undefined ? this.#watch.progress : undefined;
  }

  /** Returns the next batch, `end` if the watch has ended, or `time` if the time limit is reached first. */
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

  /**
   * Reads the next batch. Treats the error of a watch that was too slow like the end of the watch, because the client can resume from the
   * last event it received.
   */
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
