import type { Message } from '@bufbuild/protobuf';
import { PodwrightError, type Tracer, wrapError } from '@podwright/base';
import type { Endpoint } from '../endpoint.ts';
import type { HeaderField } from '../http2/static-table.ts';
import { UnreadBytes } from '../http2/unread-bytes.ts';
import { DEFAULT_CALL_TIMEOUT_MS, MAX_MESSAGE_BYTES } from '../limits.ts';
import { MessageReader, withPrefix } from '../message-reader.ts';
import type { GrpcMethod } from '../service-definition.ts';
import { CallBound } from './call-bound.ts';
import type { CallObserver } from './call-observer.ts';
import { CallOutcome } from './call-outcome.ts';
import { CallTimes } from './call-times.ts';
import { Channel, type ClientTls } from './channel.ts';
import type { Session } from './session.ts';

/** Options for a single call. */
export type CallOptions = {
  /** Cancels the call, which then rejects with the signal's abort reason. */
  signal?: AbortSignal;
  /** Deadline of the call in milliseconds, overriding its method's default; `Infinity` for none. */
  timeoutMs?: number;
  /** Additional request headers, with lower-case names. */
  headers?: readonly HeaderField[];
  /** Decodes the response of a unary call, overriding its method's decoder. */
  decode?: (bytes: Buffer) => Message;
};

/** One call: the method's local name, its definition, and the fields of the request. */
export type Call = {
  name: string;
  method: GrpcMethod;
  request: object;
  options?: CallOptions;
};

export type ConnectionOptions = {
  observer: CallObserver;
  tls?: ClientTls;
  /**
   * Returns a call's default deadline in milliseconds, given the method's local name and the request; `Infinity` for none. Default: 2
   * minutes.
   */
  timeoutOf?: (method: string, request: object) => number;
  tracer?: Tracer;
  maxReceiveBytes?: number;
};

type Begun = { outcome: CallOutcome; session: Session };

/**
 * A gRPC client for one endpoint (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). The connection is opened by the first
 * call, and reopened by the next call after it is lost.
 */
export class Connection {
  readonly #channel: Channel;
  readonly #options: ConnectionOptions;
  readonly #times = new CallTimes();

  constructor(endpoint: Endpoint, options: ConnectionOptions) {
    this.#channel = new Channel(endpoint, options.tls);
    this.#options = options;
  }

  close(): void {
    this.#channel.close();
  }

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

  /** Makes a server-streaming call, which starts immediately. Breaking out of the iteration over its responses cancels the call. */
  serverStream(call: Call): AsyncIterable<Message> {
    const done = this.#options.observer.started(call.name);
    const unread = new UnreadBytes();
    const begun = this.#stream(call, unread);
    const result = begun.then(async ({ ended }) => {
      const error = await ended;
      unread.end();
      done(error);
      return error;
    }, done);
    return this.#responses(call, { unread, begun, result });
  }

  async #stream(call: Call, unread: UnreadBytes): Promise<{ outcome: CallOutcome; ended: Promise<unknown> }> {
    const bound = this.#boundOf(call);
    try {
      const begun = await this.#begin(call, bound, (bytes) => unread.add(bytes));
      const ended = begun.outcome.ended.then(() => {
        bound[Symbol.dispose]();
        return this.#errorOf(begun, bound);
      });
      return { outcome: begun.outcome, ended };
    } catch (error) {
      bound[Symbol.dispose]();
      throw error;
    }
  }

  async *#responses(
    { method, options }: Call,
    {
      unread,
      begun,
      result,
    }: { unread: UnreadBytes; begun: Promise<{ outcome: CallOutcome }>; result: Promise<unknown> },
  ): AsyncGenerator<Message> {
    const { outcome } = await begun;
    const reader = new MessageReader(this.#options.maxReceiveBytes);
    try {
      for (let bytes = await unread.next(); bytes !== undefined; bytes = await unread.next()) {
        outcome.take(bytes.length);
        for (const message of reader.push(bytes)) {
          options?.signal?.throwIfAborted();
          yield decoded(method.responseDeserialize, message);
        }
      }
    } catch (error) {
      if (error instanceof PodwrightError) outcome.refuse(error);
      throw (await result) ?? error;
    } finally {
      outcome.cut();
    }
    const error = await result;
    if (error !== undefined) throw error;
  }

  async #unary(call: Call): Promise<Message> {
    using bound = this.#boundOf(call);
    const bytes = await this.#exchange(call, bound);
    return decoded(call.options?.decode ?? call.method.responseDeserialize, bytes);
  }

  /**
   * Sends the request and returns the response. Retries once if the server is known not to have processed the call, for example because its
   * GOAWAY crossed the request.
   */
  async #exchange(call: Call, bound: CallBound, isRepeated = false): Promise<Buffer> {
    const answer = new OnlyMessage(this.#options.maxReceiveBytes);
    const begun = await this.#begin(call, bound, (bytes, outcome) => answer.add(bytes, outcome));
    await begun.outcome.ended;
    const error = this.#errorOf(begun, bound);
    if (error === undefined) return answer.message();
    if (isRepeated || bound.isOver || !begun.outcome.isUnprocessed) throw error;
    return await this.#exchange(call, bound, true);
  }

  async #begin(
    { method, request, options }: Call,
    bound: CallBound,
    onData: (bytes: Buffer, outcome: CallOutcome) => void,
  ): Promise<Begun> {
    const bytes = method.requestSerialize(request as Message);
    if (bytes.length > MAX_MESSAGE_BYTES)
      throw new PodwrightError(
        'resource_exhausted',
        `a request of ${bytes.length} bytes, more than ${MAX_MESSAGE_BYTES}`,
      );
    const session = this.#channel.usable ?? (await bound.race(this.#channel.session()));
    if (bound.isOver) throw bound.reason; // the call ended before this continuation ran
    const added = { context: this.#options.tracer?.current(), headers: options?.headers };
    const head = this.#channel.heads.of(method.path, bound.timeoutMs, added);
    const outcome: CallOutcome = new CallOutcome(session, { head, body: withPrefix(bytes) }, (data) =>
      onData(data, outcome),
    );
    bound.onOver = () => outcome.cut();
    return { outcome, session };
  }

  #boundOf({ name, request, options = {} }: Call): CallBound {
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutOf?.(name, request) ?? DEFAULT_CALL_TIMEOUT_MS;
    return new CallBound(name, { signal: options.signal, timeoutMs, times: this.#times });
  }

  #errorOf({ outcome, session }: Begun, bound: CallBound): unknown {
    if (!outcome.isDecided && bound.isOver) return bound.reason;
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

/** Collects the single message of a unary response. */
class OnlyMessage {
  readonly #reader: MessageReader;
  readonly #messages: Buffer[] = [];

  constructor(maxBytes: number | undefined) {
    this.#reader = new MessageReader(maxBytes);
  }

  /** Adds received bytes, which the caller may overwrite afterwards. */
  add(bytes: Buffer, outcome: CallOutcome): void {
    outcome.take(bytes.length);
    try {
      this.#messages.push(...this.#reader.push(bytes));
      if (this.#messages.length > 1)
        throw new PodwrightError('unimplemented', 'an answer of several messages, not one');
    } catch (error) {
      outcome.refuse(error as PodwrightError);
    }
  }

  /** Returns the message. Throws `unimplemented` if the response contains none. */
  message(): Buffer {
    const [message] = this.#messages;
    if (message === undefined) throw new PodwrightError('unimplemented', 'an answer without a message');
    return message;
  }
}
