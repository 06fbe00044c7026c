import { performServerHandshake, type ServerHttp2Session } from 'node:http2';
import type { Duplex } from 'node:stream';
import { PodwrightError } from '@podwright/base';
import { MAX_CONNECTION_IDLE_MS } from '../limits.ts';
import { GrpcCall } from './grpc-call.ts';

/** Answers a call, whatever happens. */
export type AnswerCall = (call: GrpcCall) => void;

/** Calls at once on one connection; what they hold is bounded by the size of messages, not in all. */
const OPTIONS = { settings: { maxConcurrentStreams: 1000 }, maxSessionMemory: Number.MAX_SAFE_INTEGER };

/**
 * Serves gRPC on connections that others accept, on node:http2 alone: the server of grpc-js takes a third more CPU for a call.
 */
export class GrpcServer {
  readonly #methods: ReadonlyMap<string, AnswerCall>;
  readonly #sessions = new Set<ServerHttp2Session>();

  /** `methods` by their paths, such as `/runtime.v1.RuntimeService/Version`. */
  constructor(methods: ReadonlyMap<string, AnswerCall>) {
    this.#methods = methods;
  }

  accept(connection: Duplex): void {
    const session = performServerHandshake(connection, OPTIONS);
    let calls = 0;
    const idle = setTimeout(() => calls > 0 || session.close(), MAX_CONNECTION_IDLE_MS).unref();
    this.#sessions.add(session);
    session.on('error', () => undefined); // whoever broke the protocol has lost the connection by that
    session.once('close', () => {
      clearTimeout(idle);
      this.#sessions.delete(session);
    });
    session.on('stream', (stream, headers) => {
      if (stream.closed) return; // reset in the same breath: whatever is done to it now throws
      calls++;
      stream.on('error', () => undefined); // it closes then
      stream.once('close', () => {
        calls--;
        idle.refresh();
      });
      if (headers['content-type']?.startsWith('application/grpc')) this.#answer(new GrpcCall(stream, headers));
      else stream.respond({ ':status': 415 }, { endStream: true });
    });
  }

  /** Tells the clients to make no new calls; connections close with their last one. */
  retire(): void {
    for (const session of this.#sessions) session.close();
  }

  #answer(call: GrpcCall): void {
    const path = call.header(':path') ?? '';
    const answer = this.#methods.get(path);
    if (answer === undefined) call.fail(new PodwrightError('unimplemented', `there is no method ${path} here`));
    else answer(call);
  }
}
