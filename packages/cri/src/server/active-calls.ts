import type { ServerUnaryCall } from '@grpc/grpc-js';
import { PodwrightError } from '@podwright/base';
import { CLIENT_CLOCK_AHEAD_MS } from '../limits.ts';

/** What is needed of a call as grpc-js gives it. */
type FollowedCall = Pick<ServerUnaryCall<unknown, unknown>, 'once' | 'getDeadline'>;

/** A call under way: its signal, and `end` to be called once it is answered. */
export type ActiveCall = { signal: AbortSignal; end(): void };

/** The calls that a server is answering, so that it can end them when it closes. */
export class ActiveCalls {
  readonly #controllers = new Map<AbortController, { streaming: boolean }>();

  /** Follows a call from its beginning; its signal aborts only while it is not answered. */
  begin(call: FollowedCall, kind: { streaming: boolean }): ActiveCall {
    const controller = new AbortController();
    this.#controllers.set(controller, kind);
    // grpc-js emits `cancelled` after every call, also after those that succeeded
    call.once('cancelled', () => {
      if (this.#controllers.delete(controller)) controller.abort(goneReason(call));
    });
    return { signal: controller.signal, end: () => void this.#controllers.delete(controller) };
  }

  /** Aborts the streams, which would never end by themselves, or every call. */
  abort(which: 'streams' | 'all', reason: PodwrightError): void {
    for (const [controller, { streaming }] of this.#controllers) {
      if (which === 'all' || streaming) controller.abort(reason);
    }
  }
}

function goneReason(call: FollowedCall): PodwrightError {
  const deadline = call.getDeadline();
  const passed = Number(deadline) <= Date.now() + CLIENT_CLOCK_AHEAD_MS;
  return passed
    ? new PodwrightError('deadline_exceeded', 'the deadline of the client has passed')
    : new PodwrightError('cancelled', 'the client has gone away');
}
