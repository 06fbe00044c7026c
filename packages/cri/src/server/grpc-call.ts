import { errorCode, errorMessage, PodwrightError, statusNumber } from '@podwright/base';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import type { Http2Stream, StreamListener } from '../http2/http2-stream.ts';
import type { HeaderField } from '../http2/static-table.ts';
import { UnreadBytes } from '../http2/unread-bytes.ts';
import { MessageReader } from '../message-reader.ts';

/** The status message travels in a header: what is longer is cut, in characters. */
const MAX_DETAILS = 4096;

/** The units of the `grpc-timeout` header, in ms. */
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

const HEADERS: readonly HeaderField[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
];
const HEAD = encodeLiterals(HEADERS);
const SUCCESS = encodeLiterals([['grpc-status', '0']]);

/** What takes the request of a call. */
type Taker = { onData: (bytes: Buffer) => void; onEnd: () => void };

/**
 * A call of gRPC on its HTTP/2 stream (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). What is sent to a client that
 * has gone is lost.
 */
export class GrpcCall implements StreamListener {
  readonly #stream: Http2Stream;
  readonly #fields: readonly HeaderField[];
  readonly #goneListeners: (() => void)[] = [];
  #taker: Taker | undefined;
  #isOpen = false;
  #room: PromiseWithResolvers<void> | undefined;

  constructor(stream: Http2Stream, fields: readonly HeaderField[]) {
    this.#stream = stream;
    this.#fields = fields;
    stream.listener = this;
  }

  /** A header of the request; the first if there are several. */
  header(name: string): string | undefined {
    for (const field of this.#fields) if (field[0] === name) return field[1];
    return undefined;
  }

  /** How long the client waits, in ms. Throws `invalid_argument` for what is no time. */
  get timeoutMs(): number {
    const header = this.header('grpc-timeout');
    if (header === undefined) return Number.POSITIVE_INFINITY;
    const [, amount, unit] = /^(\d{1,8})\s*([HMSmun])$/.exec(header) ?? [];
    if (unit !== undefined) return Number(amount) * UNIT_MS[unit]!;
    throw new PodwrightError('invalid_argument', `grpc-timeout ${JSON.stringify(header)} is no time`);
  }

  /** Calls `listener` once the stream has ended, however it did. */
  onGone(listener: () => void): void {
    this.#goneListeners.push(listener);
  }

  /** The request of a call that has one. Throws `unimplemented` if the client sends none, or more. */
  request(): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const reader = new MessageReader();
    let request: Buffer | undefined;
    const onData = (bytes: Buffer) => {
      this.#stream.take(bytes.length);
      try {
        for (const message of reader.push(bytes)) {
          if (request !== undefined)
            throw new PodwrightError('unimplemented', 'a request of several messages, not one');
          request = message;
        }
      } catch (error) {
        reject(error);
      }
    };
    const onEnd = () => {
      if (request !== undefined) resolve(request);
      else reject(new PodwrightError('unimplemented', 'a request without a message'));
    };
    this.#taker = { onData, onEnd };
    return promise;
  }

  /** The requests of a call that may have several. */
  async *requests(): AsyncGenerator<Buffer> {
    const reader = new MessageReader();
    const unread = new UnreadBytes();
    this.#taker = { onData: (bytes) => unread.add(bytes), onEnd: () => unread.end() };
    for (let bytes = await unread.next(); bytes !== undefined; bytes = await unread.next()) {
      this.#stream.take(bytes.length);
      yield* reader.push(bytes);
    }
  }

  /** Answers with one response, which has its prefix and is not changed any more. */
  reply(response: Buffer): void {
    this.#stream.send({ head: HEAD, data: response, trailers: SUCCESS });
  }

  /** Tells the client that its call has been taken, before there is a response. */
  open(): void {
    this.#isOpen = true;
    this.#stream.send({ head: HEAD });
  }

  /** Sends one of several responses, each with its prefix; resolves once there is room for the next, or nobody to take it. */
  async send(response: Buffer): Promise<void> {
    this.#stream.send({ data: response });
    if (this.#stream.unsent.length === 0) return;
    this.#room ??= Promise.withResolvers();
    await this.#room.promise;
  }

  /** Ends a call with several responses. */
  end(): void {
    this.#stream.send({ trailers: SUCCESS });
  }

  /** Ends the call with the code and the message of the error. */
  fail(error: unknown): void {
    this.#taker = undefined;
    const status = errorStatus(error);
    if (this.#isOpen) this.#stream.send({ trailers: encodeLiterals(status) });
    else this.#stream.send({ head: encodeLiterals([...HEADERS, ...status]), isLast: true });
  }

  onData(bytes: Buffer): void {
    this.#taker?.onData(bytes);
  }

  onEnd(): void {
    this.#taker?.onEnd();
  }

  onSent(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  onClose(): void {
    for (const listener of this.#goneListeners) listener();
    this.onSent();
    this.onEnd();
  }
}

/** What a client is told about a failed call. */
function errorStatus(error: unknown): HeaderField[] {
  const message = errorMessage(error).toWellFormed();
  const details = message.length > MAX_DETAILS ? `${message.slice(0, MAX_DETAILS).toWellFormed()}…` : message;
  return [
    ['grpc-status', String(statusNumber(errorCode(error)))],
    ['grpc-message', encodeURI(details)],
  ];
}
