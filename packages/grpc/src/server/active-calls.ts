import { PodwrightError, Timer } from '@podwright/base';
import { CLIENT_CLOCK_AHEAD_MS } from '../limits.ts';
import type { GrpcCall } from './grpc-call.ts';

/**
 * An in-flight call. When it is abandoned (because its client disconnected, its deadline passed, or the server is closing), its signal
 * aborts and the promises returned by `race` reject. This never happens after `end`, which must be called once the call has been answered.
 */
export class ActiveCall {
  readonly streaming: boolean;
  readonly end: () => void;
  readonly #lost = new Set<(reason: PodwrightError) => void>();
  #controller: AbortController | undefined;
  #reason: PodwrightError | undefined;

  constructor({ streaming, end }: Pick<ActiveCall, 'streaming' | 'end'>) {
    this.streaming = streaming;
    this.end = end;
  }

  /** The call's abort signal. Created on first use, because calls that are answered from memory do not need one. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /**
   * Settles like the promise, or rejects with the abort reason if the call is abandoned first. Like `raceAbort` with the call's signal, but
   * without creating that signal.
   */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#reason !== undefined) reject(this.#reason);
      this.#lost.add(reject);
      promise.then(resolve, reject);
    });
  }

  giveUp(reason: PodwrightError): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (const reject of this.#lost) reject(reason);
  }
}

/** The in-flight calls of a server, which are aborted when the server closes. */
export class ActiveCalls {
  readonly #calls = new Set<ActiveCall>();

  /** Registers a call that is starting. */
  begin(call: Pick<GrpcCall, 'timeoutMs' | 'onClosed'>, { streaming }: { streaming: boolean }): ActiveCall {
    const { timeoutMs } = call;
    const lose = (reason: () => PodwrightError) => {
      timer?.[Symbol.dispose]();
      if (this.#calls.delete(active)) active.giveUp(reason());
    };
    const deadlineMs = performance.now() + timeoutMs;
    const hasPassed = () => deadlineMs <= performance.now() + CLIENT_CLOCK_AHEAD_MS;
    const timer = Number.isFinite(timeoutMs) ? new Timer(() => lose(deadlinePassed), timeoutMs) : undefined;
    const end = () => {
      timer?.[Symbol.dispose]();
      this.#calls.delete(active);
    };
    const active = new ActiveCall({ streaming, end });
    this.#calls.add(active);
    call.onClosed(() => lose(hasPassed() ? deadlinePassed : clientGone));
    return active;
  }

  /** Abandons all calls, or only the streams, which would never end on their own. */
  abort(which: 'streams' | 'all', reason: PodwrightError): void {
    for (const active of this.#calls) if (which === 'all' || active.streaming) active.giveUp(reason);
  }
}

const deadlinePassed = () => new PodwrightError('deadline_exceeded', 'the deadline of the client has passed');
const clientGone = () => new PodwrightError('cancelled', 'the client has disconnected');
