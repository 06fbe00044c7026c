import { Timer } from '@podwright/base';

/** Minimum duration of a watch without `timeoutSeconds`. As in upstream, the actual duration is random, up to twice as long. */
const MIN_TIMEOUT_MS = 1_800_000;
const BOOKMARK_EVERY_MS = 60_000;
/** How long before the end of a watch the last bookmark is sent. It allows the client to resume the watch from there. */
const BOOKMARK_BEFORE_END_MS = 2_000;

/** The timeout and bookmark timers of a watch. */
export class WatchClock implements Disposable {
  readonly #endMs: number;
  readonly #end = new AbortController();
  readonly #endTimer: Timer;
  readonly #signal: AbortSignal;
  #due: { promise: Promise<'time'>; timer: Timer } | undefined;

  constructor(timeoutSeconds: number | undefined, signal?: AbortSignal) {
    const timeoutMs = timeoutSeconds ? timeoutSeconds * 1000 : MIN_TIMEOUT_MS * (1 + Math.random());
    this.#endMs = performance.now() + timeoutMs;
    this.#endTimer = new Timer(() => this.#end.abort(), timeoutMs).unref();
    this.#signal = signal === undefined ? this.#end.signal : AbortSignal.any([this.#end.signal, signal]);
  }

  /** Signal that aborts when the watch ends. */
  get signal(): AbortSignal {
    return this.#signal;
  }

  get isOver(): boolean {
    return this.#signal.aborted;
  }

  /** Resolves when it is time for the next bookmark: after `maxMs` (default: one minute) or shortly before the watch ends. */
  untilBookmark(maxMs = BOOKMARK_EVERY_MS): Promise<'time'> {
    this.#due ??= this.#wait(maxMs);
    return this.#due.promise;
  }

  /** Aborts `signal` and stops the timers. */
  [Symbol.dispose](): void {
    this.#end.abort();
    this.#endTimer[Symbol.dispose]();
    this.#due?.timer[Symbol.dispose]();
  }

  #wait(maxMs: number): { promise: Promise<'time'>; timer: Timer } {
    const untilLastMs = this.#endMs - BOOKMARK_BEFORE_END_MS - performance.now();
    const delayMs = untilLastMs > 0 ? Math.min(maxMs, untilLastMs) : maxMs;
    const { promise, resolve } = Promise.withResolvers<'time'>();
    const elapsed = () => {
      this.#due = undefined;
      resolve('time');
    };
    return { promise, timer: new Timer(elapsed, delayMs).unref() };
  }
}
