import { PodwrightError } from '@podwright/base';
import type { CallTimes } from './call-times.ts';

type BoundOptions = { signal: AbortSignal | undefined; timeoutMs: number; times: CallTimes };

/**
 * Ends a call before its response arrives, either when the caller's signal aborts or at the deadline. It creates no timer or signal of its
 * own.
 */
export class CallBound implements Disposable {
  /** Deadline in ms after the start of the call; `Infinity` for none. */
  readonly timeoutMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #clearDeadline: (() => void) | undefined;
  #over: { reason: unknown } | undefined;
  /** Called when the signal or the deadline ends the call. */
  onOver: () => void = () => undefined;

  /** Throws the signal's reason if it has already been aborted. `name` is the method name used in error messages. */
  constructor(name: string, { signal, timeoutMs, times }: BoundOptions) {
    signal?.throwIfAborted();
    this.timeoutMs = timeoutMs;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#abort, { once: true });
    if (timeoutMs === Number.POSITIVE_INFINITY) return;
    this.#clearDeadline = times.begin(timeoutMs, () => {
      this.#end(new PodwrightError('deadline_exceeded', `${name}: no answer within ${timeoutMs} ms`));
    });
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /** Returns why the call was ended: the signal's abort reason, or a `deadline_exceeded` error. */
  get reason(): unknown {
    return this.#over?.reason;
  }

  /** Settles with the promise, or rejects with `reason` if the call is ended first. */
  async race<T>(promise: Promise<T>): Promise<T> {
    const over = Promise.withResolvers<never>();
    this.onOver = () => over.reject(this.reason);
    return await Promise.race([promise, over.promise]);
  }

  [Symbol.dispose](): void {
    this.#clearDeadline?.();
    this.#signal?.removeEventListener('abort', this.#abort);
  }

  readonly #abort = () => this.#end(this.#signal?.reason);

  #end(reason: unknown): void {
    this[Symbol.dispose]();
    this.#over ??= { reason };
    this.onOver();
  }
}
