import { MAX_TIMER_MS, PodwrightError } from '@podwright/base';
import type { CallTimes } from './call-times.ts';

type BoundOptions = { signal: AbortSignal | undefined; timeoutMs: number; times: CallTimes };

/** What ends a call before its answer comes: the signal of its caller, or its time. It has no timer and no signal of its own. */
export class CallBound implements Disposable {
  /** `Infinity` for no bound. */
  readonly timeoutMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #forgetTime: (() => void) | undefined;
  #over: { reason: unknown } | undefined;
  /** Called when it is over. */
  onOver: () => void = () => undefined;

  /** Throws the reason of a signal that has aborted. `name` is that of the method. */
  constructor(name: string, { signal, timeoutMs, times }: BoundOptions) {
    signal?.throwIfAborted();
    this.timeoutMs = timeoutMs;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#abort, { once: true });
    if (timeoutMs > MAX_TIMER_MS) return;
    this.#forgetTime = times.begin(timeoutMs, () => {
      this.#end(new PodwrightError('deadline_exceeded', `${name}: no answer within ${timeoutMs} ms`));
    });
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /** Why it is over. */
  get reason(): unknown {
    return this.#over?.reason;
  }

  /** The promise's outcome, or the reason if that comes first. */
  async race<T>(promise: Promise<T>): Promise<T> {
    const over = Promise.withResolvers<never>();
    this.onOver = () => over.reject(this.reason);
    return await Promise.race([promise, over.promise]);
  }

  [Symbol.dispose](): void {
    this.#forgetTime?.();
    this.#signal?.removeEventListener('abort', this.#abort);
  }

  readonly #abort = () => this.#end(this.#signal?.reason);

  #end(reason: unknown): void {
    this[Symbol.dispose]();
    this.#over ??= { reason };
    this.onOver();
  }
}
