import type { Duplex } from 'node:stream';
import { errorMessage, type Logger, PodwrightError } from '@podwright/base';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import type { Http2Stream } from '../http2/http2-stream.ts';
import type { HeaderField } from '../http2/static-table.ts';
import { GrpcCall } from './grpc-call.ts';
import { ServerSession } from './session.ts';

/** Answers a call. Must not throw. */
export type AnswerCall = (call: GrpcCall) => void;

const UNSUPPORTED_MEDIA_TYPE = encodeLiterals([[':status', '415']]);

/** Serves gRPC on connections that its caller accepts. */
export class GrpcServer {
  readonly #methods: ReadonlyMap<string, AnswerCall>;
  readonly #logger: Logger;
  readonly #sessions = new Set<ServerSession>();

  /** `methods` are keyed by path, such as `/runtime.v1.RuntimeService/Version`. */
  constructor(methods: ReadonlyMap<string, AnswerCall>, logger: Logger) {
    this.#methods = methods;
    this.#logger = logger;
  }

  accept(connection: Duplex): void {
    const session = new ServerSession(connection, {
      onRequest: (stream, fields) => this.#answer(stream, fields),
      onClose: (error) => {
        this.#sessions.delete(session);
        if (error !== undefined)
          this.#logger.info({ error: errorMessage(error) }, 'disconnected a client that violated the protocol');
      },
    });
    this.#sessions.add(session);
  }

  /** Sends GOAWAY to all clients; connections close after their last call. */
  retire(): void {
    for (const session of this.#sessions) session.retire();
  }

  #answer(stream: Http2Stream, fields: readonly HeaderField[]): void {
    const call = new GrpcCall(stream, fields);
    if (!call.header('content-type')?.startsWith('application/grpc'))
      return stream.send({ head: UNSUPPORTED_MEDIA_TYPE, isLast: true });
    const path = call.header(':path') ?? '';
    const answer = this.#methods.get(path);
    if (answer === undefined) call.fail(new PodwrightError('unimplemented', `there is no method ${path}`));
    else answer(call);
  }
}
