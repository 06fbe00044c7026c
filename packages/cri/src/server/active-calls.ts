import type { ServerUnaryCall } from '@grpc/grpc-js';
import { PodwrightError } from '@podwright/base';
import { CLIENT_CLOCK_AHEAD_MS } from '../limits.ts';

/** What is needed of a call as grpc-js gives it. */
type FollowedCall = Pick<ServerUnaryCall<unknown, unknown>, 'once' | 'getDeadline'>;

/**
 * A call under way. Once it is given up its signal aborts and its races are lost; never after `end`, which is to be called once it
 * is answered.
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

  /** Made when it is first asked for: calls that are answered from memory do without. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The promise's outcome, or why the call was given up if that comes first: as `raceAbort` with the signal. */
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

/** The calls that a server is answering, so that it can end them when it closes. */
export class ActiveCalls {
  readonly #calls = new Set<ActiveCall>();

  /** Follows a call from its beginning. */
  begin(call: FollowedCall, { streaming }: { streaming: boolean }): ActiveCall {
    const active = new ActiveCall({ streaming, end: () => void this.#calls.delete(active) });
    this.#calls.add(active);
    // grpc-js emits `cancelled` after every call, also after those that succeeded
    call.once('cancelled', () => {
      if (this.#calls.delete(active)) active.giveUp(goneReason(call));
    });
    return active;
  }

  /** Gives up the streams, which would never end by themselves, or every call. */
  abort(which: 'streams' | 'all', reason: PodwrightError): void {
    for (const active of this.#calls) if (which === 'all' || active.streaming) active.giveUp(reason);
  }
}

function goneReason(call: FollowedCall): PodwrightError {
  const deadline = call.getDeadline();
  const passed = Number(deadline) <= Date.now() + CLIENT_CLOCK_AHEAD_MS;
  return passed
    ? new PodwrightError('deadline_exceeded', 'the deadline of the client has passed')
    : new PodwrightError('cancelled', 'the client has gone away');
}
