import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { errorCode, errorMessage, PodwrightError, statusNumber } from '@podwright/base';
import { MessageReader } from '../message-reader.ts';

/** The status message travels in a header: what is longer is cut, in characters. */
const MAX_DETAILS = 4096;

/** The units of the `grpc-timeout` header, in ms. */
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

const HEADERS = { ':status': 200, 'content-type': 'application/grpc' };
const BEGINNING = { waitForTrailers: true, sendDate: false };
const WHOLE = { endStream: true, sendDate: false };

type Status = { 'grpc-status': number; 'grpc-message'?: string };

/**
 * A call of gRPC on its HTTP/2 stream (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). What is sent to a client that
 * has gone is lost.
 */
export class GrpcCall {
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  #status: Status = { 'grpc-status': 0 };

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.#stream = stream;
    this.#headers = headers;
  }

  /** A header of the request; the first if there are several. */
  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value[0] : value;
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
    this.#stream.once('close', listener);
  }

  /** The request of a call that has one. Throws `unimplemented` if the client sends none, or more. */
  request(): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const reader = new MessageReader();
    const messages: Buffer[] = [];
    this.#stream.on('data', (chunk: Buffer) => {
      try {
        messages.push(...reader.push(chunk));
        if (messages.length > 1) throw new PodwrightError('unimplemented', 'a request of several messages, not one');
      } catch (error) {
        reject(error);
      }
    });
    this.#stream.once('end', () => {
      if (messages.length === 1) resolve(messages[0]!);
      else reject(new PodwrightError('unimplemented', 'a request without a message'));
    });
    return promise;
  }

  /** The requests of a call that may have several. */
  async *requests(): AsyncGenerator<Buffer> {
    const reader = new MessageReader();
    const chunks = this.#stream.iterator({ destroyOnReturn: false });
    for await (const chunk of chunks) yield* reader.push(chunk as Buffer);
  }

  /** Answers with one response, which has its prefix and is not changed any more. */
  reply(response: Buffer): void {
    this.open();
    if (!this.#hasGone) this.#stream.end(response);
  }

  /** Tells the client that its call has been taken, before there is a response. */
  open(): void {
    if (this.#hasGone) return;
    this.#stream.respond(HEADERS, BEGINNING);
    this.#stream.once('wantTrailers', () => this.#stream.sendTrailers(this.#status));
  }

  /** Sends one of several responses, each with its prefix; resolves once there is room for the next, or nobody to take it. */
  async send(response: Buffer): Promise<void> {
    if (this.#hasGone) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    if (!this.#stream.write(response, () => resolve())) await promise;
  }

  /** Ends a call with several responses. */
  end(): void {
    this.#stream.end();
  }

  /** Ends the call with the code and the message of the error. */
  fail(error: unknown): void {
    if (this.#hasGone) return;
    this.#status = errorStatus(error);
    if (this.#stream.headersSent) this.#stream.end();
    else this.#stream.respond({ ...HEADERS, ...this.#status }, WHOLE);
    this.#stream.removeAllListeners('data').resume(); // what the client still sends
  }

  get #hasGone(): boolean {
    return this.#stream.closed || this.#stream.destroyed;
  }
}

/** What a client is told about a failed call. */
function errorStatus(error: unknown): Status {
  const message = errorMessage(error).toWellFormed();
  const details = message.length > MAX_DETAILS ? `${message.slice(0, MAX_DETAILS).toWellFormed()}…` : message;
  return { 'grpc-status': statusNumber(errorCode(error)), 'grpc-message': encodeURI(details) };
}
