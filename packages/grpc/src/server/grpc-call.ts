import { errorCode, errorMessage, PodwrightError, statusNumber } from '@podwright/base';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import type { Outgoing, StreamListener } from '../http2/http2-stream.ts';
import type { HeaderField } from '../http2/static-table.ts';
import { UnreadBytes } from '../http2/unread-bytes.ts';
import { MessageReader } from '../message-reader.ts';

/** Maximum length of a status message in characters, because it is sent in a header. Longer messages are truncated. */
const MAX_DETAILS = 4096;

/** Units of the `grpc-timeout` header, in ms. */
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

/** The header fields that begin every gRPC response. */
export const HEADERS: readonly HeaderField[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
];
const HEAD = encodeLiterals(HEADERS);
const SUCCESS = encodeLiterals([['grpc-status', '0']]);

/** The HTTP/2 stream of a call. */
export type CallStream = {
  listener: StreamListener | undefined;
  /** Number of data bytes that have not been sent yet. */
  readonly unsentBytes: number;
  /** Queues more data to send; does nothing on a closed stream. */
  send(outgoing: Outgoing): void;
  /** Returns consumed bytes to the stream's receive window. */
  take(bytes: number): void;
  /** Resets the stream with an HTTP/2 error code; does nothing on a closed stream. */
  cut(code?: number): void;
};

type RequestReader = { onData: (bytes: Buffer) => void; onEnd: () => void };

/**
 * A gRPC call on its HTTP/2 stream (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). Sending to a disconnected client has
 * no effect.
 */
export class GrpcCall implements StreamListener {
  readonly #stream: CallStream;
  readonly #fields: readonly HeaderField[];
  readonly #closeListeners: (() => void)[] = [];
  #reader: RequestReader | undefined;
  #isOpen = false;
  #room: PromiseWithResolvers<void> | undefined;

  constructor(stream: CallStream, fields: readonly HeaderField[]) {
    this.#stream = stream;
    this.#fields = fields;
    stream.listener = this;
  }

  /** Returns the value of a request header, or its first value if the header is repeated. */
  header(name: string): string | undefined {
    for (const field of this.#fields) if (field[0] === name) return field[1];
    return undefined;
  }

  /** The client's timeout in ms. Throws `invalid_argument` if the header is malformed. */
  get timeoutMs(): number {
    return timeoutMsOf(this.header('grpc-timeout'));
  }

  /** Calls `listener` once the stream has been closed, for any reason. */
  onClosed(listener: () => void): void {
    this.#closeListeners.push(listener);
  }

  /** Reads the single request of a call. Rejects with `unimplemented` if the client sends none or more than one. */
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
    this.#reader = { onData, onEnd };
    return promise;
  }

  /** Yields the requests of a streaming call. */
  async *requests(): AsyncGenerator<Buffer> {
    const reader = new MessageReader();
    const unread = new UnreadBytes();
    this.#reader = { onData: (bytes) => unread.add(bytes), onEnd: () => unread.end() };
    for (let bytes = await unread.next(); bytes !== undefined; bytes = await unread.next()) {
      this.#stream.take(bytes.length);
      yield* reader.push(bytes);
    }
  }

  /** Ends the call with a single response. The buffer includes the prefix and must not be modified afterwards. */
  reply(response: Buffer): void {
    this.#stream.send({ head: HEAD, data: response, trailers: SUCCESS });
  }

  /** Sends the response headers ahead of any response, to show that the call was accepted. */
  open(): void {
    this.#isOpen = true;
    this.#stream.send({ head: HEAD });
  }

  /**
   * Sends one response of a streaming call; the buffer includes its prefix. Resolves when there is room for the next response, or when the
   * stream is closed.
   */
  async send(response: Buffer): Promise<void> {
    this.#stream.send({ data: response });
    if (this.#stream.unsentBytes === 0) return;
    this.#room ??= Promise.withResolvers();
    await this.#room.promise;
  }

  /** Ends a streaming call successfully. */
  end(): void {
    this.#stream.send({ trailers: SUCCESS });
  }

  /** Ends the call with the error's code and message. */
  fail(error: unknown): void {
    this.#reader = undefined;
    const status = errorStatus(error);
    if (this.#isOpen) this.#stream.send({ trailers: encodeLiterals(status) });
    else this.#stream.send({ head: encodeLiterals([...HEADERS, ...status]), isLast: true });
  }

  onData(bytes: Buffer): void {
    this.#reader?.onData(bytes);
  }

  onEnd(): void {
    this.#reader?.onEnd();
  }

  onSent(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  onClose(): void {
    for (const listener of this.#closeListeners) listener();
    this.onSent();
    this.onEnd();
  }
}

/** Parses a `grpc-timeout` header to milliseconds. Throws `invalid_argument` if it is malformed. */
export function timeoutMsOf(header: string | undefined): number {
  if (header === undefined) return Number.POSITIVE_INFINITY;
  const [, amount, unit] = /^(\d{1,8})\s*([HMSmun])$/.exec(header) ?? [];
  if (unit !== undefined) return Number(amount) * UNIT_MS[unit]!;
  throw new PodwrightError('invalid_argument', `grpc-timeout ${JSON.stringify(header)} is not a valid timeout`);
}

/** Returns the response headers or trailers that report a failed call. */
export function errorStatus(error: unknown): HeaderField[] {
  const message = errorMessage(error).toWellFormed();
  const details = message.length > MAX_DETAILS ? `${message.slice(0, MAX_DETAILS).toWellFormed()}…` : message;
  return [
    ['grpc-status', String(statusNumber(errorCode(error)))],
    ['grpc-message', encodeURI(details)],
  ];
}
