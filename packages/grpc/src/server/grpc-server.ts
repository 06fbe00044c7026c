import type { ServerHttp2Session } from 'node:http2';
import type { Duplex } from 'node:stream';
import { errorMessage, type Logger, PodwrightError } from '@podwright/base';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import type { HeaderField } from '../http2/static-table.ts';
import { type CallStream, GrpcCall } from './grpc-call.ts';
import { NodeSession } from './node-session.ts';
import { ServerSession, type SessionListener } from './session.ts';

/** Answers a call. Must not throw. */
export type AnswerCall = (call: GrpcCall) => void;

const UNSUPPORTED_MEDIA_TYPE = encodeLiterals([[':status', '415']]);

/** Serves gRPC on connections accepted by the caller. */
export class GrpcServer {
  readonly #methods: ReadonlyMap<string, AnswerCall>;
  readonly #logger: Logger;
  readonly #sessions = new Set<ServerSession | NodeSession>();

  /** `methods` are keyed by path, such as `/runtime.v1.RuntimeService/Version`. */
  constructor(methods: ReadonlyMap<string, AnswerCall>, logger: Logger) {
    this.#methods = methods;
    this.#logger = logger;
  }

  /** Serves a connection with this package's own HTTP/2 implementation. */
  accept(connection: Duplex): void {
    this.#add((listener) => new ServerSession(connection, listener));
  }

  /** Serves a connection with node:http2. */
  acceptSession(session: ServerHttp2Session): void {
    this.#add((listener) => new NodeSession(session, listener));
  }

  /** Sends GOAWAY to all clients. Connections close once their in-flight calls have finished. */
  retire(): void {
    for (const session of this.#sessions) session.retire();
  }

  #add(open: (listener: SessionListener) => ServerSession | NodeSession): void {
    const session = open({
      onRequest: (stream, fields) => this.#answer(stream, fields),
      onClose: (error) => {
        this.#sessions.delete(session);
        if (error !== undefined)
          this.#logger.info({ error: errorMessage(error) }, 'disconnected a client that violated the protocol');
      },
    });
    this.#sessions.add(session);
  }

  #answer(stream: CallStream, fields: readonly HeaderField[]): void {
    const call = new GrpcCall(stream, fields);
    if (!call.header('content-type')?.startsWith('application/grpc'))
      return stream.send({ head: UNSUPPORTED_MEDIA_TYPE, isLast: true });
    const path = call.header(':path') ?? '';
    const answer = this.#methods.get(path);
    if (answer === undefined) call.fail(new PodwrightError('unimplemented', `there is no method ${path}`));
    else answer(call);
  }
}
