import { setImmediate } from 'node:timers/promises';
import { errorMessage, type Logger } from '@podwright/base';
import { isApiStatus } from '@podwright/kube-client';

export type WorkQueueOptions = {
  /** Reconciles the object with this key, which might no longer exist in the cache. */
  sync: (key: string) => Promise<void>;
  /** The message to log if `sync` fails. */
  failure: string;
  /**
   * Delay before the first retry of a key, in milliseconds. Default: 5. Does not apply to conflicts, which are always retried after 5 ms at
   * first.
   */
  firstRetryMs?: number;
  /** Maximum delay before a retry, in milliseconds. Default: 1,000,000. */
  maxRetryMs?: number;
  /** Number of keys handled concurrently. Default: 5, as in upstream's controllers. */
  workers?: number;
  /** Returns how far the system time is ahead of the monotonic clock, in milliseconds. */
  clockOffsetMs?: () => number;
  logger: Pick<Logger, 'warn'>;
  signal: AbortSignal;
};

/**
 * Delay before the first retry of a failed key, in milliseconds. It doubles with each further failure, up to `MAX_RETRY_MS` (client-go's
 * defaults).
 */
const FIRST_RETRY_MS = 5;
const MAX_RETRY_MS = 1_000_000;
/**
 * Longest timer, in milliseconds; longer delays are split. Delays are computed from the system time, but timers do not follow it, so after
 * each part the queue checks whether the system time was set or the machine was suspended.
 */
const MAX_TIMER_MS = 60_000;
/**
 * If the offset between the system time and the monotonic clock changes by more than this, in milliseconds, the system time was set rather
 * than just slewed.
 */
const CLOCK_STEP_MS = 1000;

/**
 * A queue of object keys that follows the rules of client-go's rate-limited work queue: a key added several times is handled once, never by
 * two workers at a time, and again if it was added while being handled.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, { atMs: number; timer: NodeJS.Timeout }>();
  readonly #clockOffsetMs: () => number;
  readonly #stopped = Promise.withResolvers<void>();

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#clockOffsetMs = options.clockOffsetMs ?? (() => Date.now() - performance.now());
    options.signal.addEventListener('abort', () => this.#stop(), { once: true });
  }

  /** Resolves when the signal has aborted and the last `sync` has ended. */
  get ended(): Promise<void> {
    return this.#stopped.promise;
  }

  add(key: string): void {
    if (this.#options.signal.aborted) return;
    this.#waiting.add(key);
    this.#startWorkers();
  }

  /**
   * Adds the key after a delay in milliseconds, or within a minute if the system time is changed. If a key has several delays, the one that
   * ends first applies.
   */
  addAfter(key: string, delayMs: number): void {
    if (!(delayMs > 0)) return this.add(key);
    if (this.#options.signal.aborted) return;
    const atMs = performance.now() + delayMs;
    const known = this.#timers.get(key);
    if (known !== undefined && known.atMs <= atMs) return;
    clearTimeout(known?.timer);
    const offsetMs = this.#clockOffsetMs();
    const timer = setTimeout(() => this.#expired(key, { atMs, offsetMs }), Math.min(delayMs, MAX_TIMER_MS));
    this.#timers.set(key, { atMs, timer });
  }

  #expired(key: string, { atMs, offsetMs }: { atMs: number; offsetMs: number }): void {
    this.#timers.delete(key);
    const isStep = Math.abs(this.#clockOffsetMs() - offsetMs) > CLOCK_STEP_MS;
    this.addAfter(key, isStep ? 0 : Math.floor(atMs - performance.now()));
  }

  #startWorkers(): void {
    const { workers = 5 } = this.#options;
    for (const key of this.#waiting) {
      if (this.#running.size >= workers) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      this.#running.add(key);
      void this.#handle(key);
    }
  }

  async #handle(key: string): Promise<void> {
    // If the server runs in this process, calls to it might never leave the microtask queue, so let other events run before each key. This
    // also lets the caller of `add` finish reporting changes before the sync reads the cache.
    await setImmediate();
    try {
      await this.#options.sync(key);
      this.#failures.delete(key);
    } catch (error) {
      this.#retry(key, error);
    }
    this.#running.delete(key);
    if (!this.#options.signal.aborted) this.#startWorkers();
    else if (this.#running.size === 0) this.#stopped.resolve();
  }

  /** Requeues the key. Conflicts are not logged, as they only mean that another client wrote the object first. */
  #retry(key: string, error: unknown): void {
    const { logger, failure, signal, firstRetryMs = FIRST_RETRY_MS, maxRetryMs = MAX_RETRY_MS } = this.#options;
    if (signal.aborted) return;
    const isConflict = isApiStatus(error, 409);
    if (!isConflict) logger.warn({ key, error: errorMessage(error) }, `${failure}, trying again`);
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.addAfter(key, Math.min((isConflict ? FIRST_RETRY_MS : firstRetryMs) * 2 ** failures, maxRetryMs));
  }

  #stop(): void {
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#waiting.clear();
    if (this.#running.size === 0) this.#stopped.resolve();
  }
}
