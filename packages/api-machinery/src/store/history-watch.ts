import type { EventHistory } from './event-history.ts';
import type { StoreEvent, StoreWatch, WatchOptions } from './object-store.ts';
import { SlowWatcher } from './store-errors.ts';

/** A watch that reads a resource's history from a given position. Needs no cleanup: an abandoned watch is garbage-collected. */
export class HistoryWatch implements StoreWatch {
  readonly #resource: string;
  readonly #history: EventHistory;
  readonly #options: WatchOptions;
  readonly #revision: () => number;
  /** The number of the event that the watch reads next. */
  #position: number;
  /** The revision of the last event read, including events that the watch filtered out. */
  #passed: number;

  /** Throws `ExpiredRevision` if the history does not go back to `options.from`. `revision` returns the last durable revision. */
  constructor(
    resource: string,
    { history, revision }: { history: EventHistory; revision: () => number },
    options: WatchOptions,
  ) {
    this.#resource = resource;
    this.#history = history;
    this.#options = options;
    this.#revision = revision;
    this.#position = history.firstAfter(options.from);
    this.#passed = options.from;
  }

  get progress(): number {
    return this.#position >= this.#history.published ? Math.max(this.#passed, this.#revision()) : this.#passed;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly StoreEvent[]> {
    const { signal } = this.#options;
    while (!signal?.aborted) {
      const events = this.#take();
      if (events.length > 0) yield events;
      else await this.#next(signal);
    }
  }

  #take(): StoreEvent[] {
    const events = this.#history.publishedFrom(this.#position);
    if (events === undefined) throw new SlowWatcher(this.#resource);
    this.#position += events.length;
    this.#passed = events.at(-1)?.object.revision ?? this.#passed;
    const { from, namespace } = this.#options;
    const isWatched = ({ object }: StoreEvent) =>
      object.revision > from && (namespace === undefined || object.key.startsWith(`${namespace}/`));
    return events.filter(isWatched);
  }

  /** Resolves when more events are published or the signal aborts. */
  async #next(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const revoke = this.#history.whenNext(resolve);
    signal?.addEventListener('abort', resolve as () => void);
    await promise;
    signal?.removeEventListener('abort', resolve as () => void);
    revoke();
  }
}
