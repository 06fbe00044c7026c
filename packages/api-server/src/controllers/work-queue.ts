import { EventLoopBudget, errorMessage, type Logger, pause } from '@podwright/base';
import { isOvertaken } from './ignore-overtaken.ts';
import { type Location, textOf } from './location.ts';

export type WorkParts = {
  /** Acts on the current state of the object, which may not exist any longer. */
  handle: (location: Location) => Promise<void>;
  /** The log message if `handle` fails. */
  failure: string;
  /** Delay in milliseconds before a failed object is handled again. Default: that of client-go's default rate limiter. */
  firstRetryMs?: number;
  logger: Pick<Logger, 'warn'>;
  signal: AbortSignal;
};

/** Thrown by `handle` for an object that is to be handled again later, though nothing has failed. It is not logged. */
export class NotYet extends Error {}

/** Delay before a failed object is handled again. It doubles with each further failure, as in client-go's default rate limiter. */
const FIRST_RETRY_MS = 5;
const MAX_RETRY_MS = 1_000_000;
/** How often an object is handled again at once because another write changed it meanwhile. */
const MAX_OVERTAKEN = 5;

/** Objects to handle, one after another. An object that is added several times is handled once. */
export class WorkQueue {
  readonly #parts: WorkParts;
  /** The objects, with the number of failed tries. */
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

  /** Handles objects until the signal aborts. */
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
