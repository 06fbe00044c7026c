import { type ClientHttp2Stream, constants } from 'node:http2';
import type { Message } from '@bufbuild/protobuf';
import {
  formatTraceparent,
  PodwrightError,
  raceAbort,
  TRACEPARENT,
  type Tracer,
  withTimeout,
  wrapError,
} from '@podwright/base';
import type { CriEndpoint } from '../endpoint.ts';
import { MAX_MESSAGE_BYTES, MAX_TIMER_MS } from '../limits.ts';
import { MessageReader, withPrefix } from '../message-reader.ts';
import type { GrpcMethod } from '../service-definition.ts';
import { CallOutcome } from './call-outcome.ts';
import { Channel, type ClientTls } from './channel.ts';
import { defaultTimeoutMs } from './deadlines.ts';
import type { CallObserver } from './observer.ts';
import type { Session } from './session.ts';

/** Options of one call. */
export type CallOptions = {
  /** Cancels the call; it then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** How long the call may take, instead of the default of its method; `Infinity` for no bound. */
  timeoutMs?: number;
  /** Decodes the response of a call that has one, in the place of its method's decoder. */
  decode?: (bytes: Buffer) => Message;
};

/** One call: the method's local name and definition, and the fields of its request. */
export type Call = {
  name: string;
  method: GrpcMethod;
  request: object;
  options?: CallOptions;
};

export type ConnectionOptions = {
  observer: CallObserver;
  tls?: ClientTls;
  requestTimeoutMs?: number;
  tracer?: Tracer;
  maxReceiveBytes?: number;
};

/** A call under way. `signal` ends it: its caller's, or that of its time. */
type Begun = { stream: ClientHttp2Stream; outcome: CallOutcome; session: Session };
type Bound = { signal: AbortSignal | undefined; timeoutMs: number } & Disposable;

const HEADERS = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers', 'user-agent': 'podwright' };
/** The `grpc-timeout` header has eight digits at most. */
const MOST_TIMEOUT_MS = 99_999_999;

/**
 * A client of gRPC at one endpoint, on node:http2 alone (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). It connects
 * at the first call, and again whenever the connection is lost.
 */
export class Connection {
  readonly #channel: Channel;
  readonly #options: ConnectionOptions;

  constructor(endpoint: CriEndpoint, options: ConnectionOptions) {
    this.#channel = new Channel(endpoint, options.tls);
    this.#options = options;
  }

  close(): void {
    this.#channel.close();
  }

  /** Makes a call with one response. */
  async unary(call: Call): Promise<Message> {
    const done = this.#options.observer.started(call.name);
    try {
      const response = await this.#unary(call);
      done();
      return response;
    } catch (error) {
      done(error);
      throw error;
    }
  }

  /** Makes a call with a stream of responses; the call starts now. Leaving the loop over it early cancels it. */
  serverStream(call: Call): AsyncIterable<Message> {
    const done = this.#options.observer.started(call.name);
    const bound = this.#boundOf(call);
    const begun = this.#begin(call, bound);
    const told = begun
      .then(async (call) => {
        await call.outcome.ended;
        const error = this.#errorOf(call, bound.signal);
        done(error);
        return error;
      }, done)
      .finally(() => bound[Symbol.dispose]());
    return this.#responses(call, begun, () => told);
  }

  async *#responses(call: Call, begun: Promise<Begun>, told: () => Promise<unknown>): AsyncGenerator<Message> {
    const { stream, outcome } = await begun;
    const reader = new MessageReader(this.#options.maxReceiveBytes);
    let endCode: number = constants.NGHTTP2_CANCEL;
    try {
      for await (const chunk of stream.iterator({ destroyOnReturn: false }))
        for (const message of reader.push(chunk as Buffer)) yield decoded(call.method.responseDeserialize, message);
      endCode = constants.NGHTTP2_NO_ERROR;
    } catch (error) {
      if (error instanceof PodwrightError) outcome.refuse(error);
      throw (await told()) ?? error;
    } finally {
      outcome.cut(endCode);
    }
    const error = await told();
    if (error !== undefined) throw error;
  }

  async #unary(call: Call): Promise<Message> {
    using bound = this.#boundOf(call);
    const bytes = await this.#exchange(call, bound);
    return decoded(call.options?.decode ?? call.method.responseDeserialize, bytes);
  }

  /** Sends the request again, once, if the other side has not looked at it: it may have said goodbye just then. */
  async #exchange(call: Call, bound: Bound, isRepeated = false): Promise<Buffer> {
    const begun = await this.#begin(call, bound);
    const response = onlyMessage(begun, {
      maxBytes: this.#options.maxReceiveBytes,
      error: () => this.#errorOf(begun, bound.signal),
    });
    try {
      return await (bound.signal === undefined ? response : raceAbort(response, bound.signal));
    } catch (error) {
      if (isRepeated || bound.signal?.aborted || !begun.outcome.isUnprocessed) throw error;
      return await this.#exchange(call, bound, true);
    }
  }

  async #begin({ method, request }: Call, { signal, timeoutMs }: Bound): Promise<Begun> {
    signal?.throwIfAborted();
    const bytes = method.requestSerialize(request as Message);
    if (bytes.length > MAX_MESSAGE_BYTES)
      throw new PodwrightError(
        'resource_exhausted',
        `a request of ${bytes.length} bytes, more than ${MAX_MESSAGE_BYTES}`,
      );
    const connected = this.#channel.session();
    const session = await (signal === undefined ? connected : raceAbort(connected, signal));
    signal?.throwIfAborted(); // while we were told of the connection, after the race
    const stream = session.request({ ...HEADERS, ':path': method.path, ...this.#metadata(timeoutMs) });
    const outcome = new CallOutcome(stream, session);
    const cancel = () => outcome.cut();
    signal?.addEventListener('abort', cancel, { once: true });
    stream.once('close', () => signal?.removeEventListener('abort', cancel));
    stream.end(withPrefix(bytes));
    return { stream, outcome, session };
  }

  /** Tells the server how long it has, and which trace the call is part of, if it is of one. */
  #metadata(timeoutMs: number): Record<string, string> {
    const context = this.#options.tracer?.current();
    return {
      ...(timeoutMs <= MOST_TIMEOUT_MS && { 'grpc-timeout': `${Math.ceil(timeoutMs)}m` }),
      ...(context !== undefined && { [TRACEPARENT]: formatTraceparent(context) }),
    };
  }

  #boundOf({ name, request, options = {} }: Call): Bound {
    const { signal } = options;
    const usual = () => defaultTimeoutMs(name, request, this.#options.requestTimeoutMs) ?? Number.POSITIVE_INFINITY;
    const timeoutMs = options.timeoutMs ?? usual();
    if (timeoutMs > MAX_TIMER_MS) return { signal, timeoutMs, [Symbol.dispose]: () => undefined };
    const timed = withTimeout(signal, timeoutMs, name);
    return { signal: timed, timeoutMs, [Symbol.dispose]: () => timed[Symbol.dispose]() };
  }

  #errorOf({ outcome, session }: Begun, signal: AbortSignal | undefined): unknown {
    if (!outcome.isTold && signal?.aborted) return signal.reason;
    return outcome.error(() => this.#channel.failure(session));
  }
}

function decoded(decode: (bytes: Buffer) => Message, bytes: Buffer): Message {
  try {
    return decode(bytes);
  } catch (error) {
    throw wrapError('the answer cannot be read', error, 'internal');
  }
}

/** The message of an answer that has one. Rejects with `error()`, and with `unimplemented` for an answer with none or several. */
function onlyMessage(
  { stream, outcome }: Begun,
  { maxBytes, error }: { maxBytes: number | undefined; error: () => unknown },
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const reader = new MessageReader(maxBytes);
  const messages: Buffer[] = [];
  const finish = () => {
    const failure = error();
    if (failure !== undefined) reject(failure);
    else if (messages.length === 1) resolve(messages[0]!);
    else reject(new PodwrightError('unimplemented', 'an answer without a message'));
  };
  stream.on('data', (chunk: Buffer) => {
    try {
      messages.push(...reader.push(chunk));
      if (messages.length > 1) throw new PodwrightError('unimplemented', 'an answer of several messages, not one');
    } catch (cause) {
      outcome.refuse(cause as PodwrightError);
    }
  });
  stream.once('end', () => outcome.isTold && finish());
  stream.once('close', finish);
  return promise;
}
