import { EventLoopBudget, errorMessage, type Logger, pause } from '@podwright/base';
import { isOvertaken } from './ignore-overtaken.ts';
import { type Location, textOf } from './location.ts';

export type WorkParts = {
  /** Brings the object at this location up to date. It may no longer exist. */
  handle: (location: Location) => Promise<void>;
  /** Log message for objects whose handling has failed. */
  failure: string;
  /** Delay before the first retry of a failed object, in ms. Default: as in client-go's default rate limiter. */
  firstRetryMs?: number;
  logger: Pick<Logger, 'warn'>;
  signal: AbortSignal;
};

/** Thrown by `handle` if an object needs to be retried later although nothing has failed. Not logged. */
export class NotYet extends Error {}

/** Delay before the first retry of a failed object. Doubles with each failure, as in client-go's default rate limiter. */
const FIRST_RETRY_MS = 5;
const MAX_RETRY_MS = 1_000_000;
/** Maximum number of immediate retries if an object is changed concurrently; after that, retries are delayed. */
const MAX_OVERTAKEN = 5;

/** A queue of objects that are handled one at a time. Repeated additions of an object are coalesced. */
export class WorkQueue {
  readonly #parts: WorkParts;
  /** Queued objects, with their number of immediate retries so far after conflicts. */
  readonly #queue = new Map<string, { location: Location; tries: number }>();
  /** Number of consecutive failures, by object. */
  readonly #failures = new Map<string, number>();
  #wake: () => void = () => {};

  constructor(parts: WorkParts) {
    this.#parts = parts;
  }

  add(location: Location): void {
    const key = textOf(location);
    if (!this.#queue.has(key)) this.#queue.set(key, { location, tries: 0 });
    this.#wake();
  }

  /** Handles queued objects until the signal aborts. */
  async run(): Promise<void> {
    const budget = new EventLoopBudget(); // the store is in this process: no call need leave the microtasks
    while (!this.#parts.signal.aborted) {
      const [key, next] = this.#queue.entries().next().value ?? [];
      if (key === undefined || next === undefined) {
        await this.#untilWork();
        continue;
      }
      this.#queue.delete(key);
      await this.#handle(key, next);
      if (budget.isSpent) await budget.renew();
    }
  }

  async #handle(key: string, { location, tries }: { location: Location; tries: number }): Promise<void> {
    const { handle, failure, logger, signal, firstRetryMs = FIRST_RETRY_MS } = this.#parts;
    try {
      await handle(location);
      this.#failures.delete(key);
    } catch (error) {
      if (isOvertaken(error) && tries < MAX_OVERTAKEN) {
        this.#queue.set(key, { location, tries: tries + 1 });
        return;
      }
      if (!(error instanceof NotYet))
        logger.warn({ ...location, error: errorMessage(error) }, `${failure}, trying again`);
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      const delayMs = Math.min(firstRetryMs * 2 ** failures, MAX_RETRY_MS);
      void pause(delayMs, signal).then(() => this.add(location));
    }
  }

  #untilWork(): Promise<void> {
    const { signal } = this.#parts;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => {
      signal.removeEventListener('abort', wake);
      resolve();
    };
    signal.addEventListener('abort', wake);
    this.#wake = wake;
    return promise;
  }
}
