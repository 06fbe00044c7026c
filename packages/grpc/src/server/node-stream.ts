import type { ServerHttp2Stream } from 'node:http2';
import { END_CODE } from '../http2/end-codes.ts';
import { HpackDecoder } from '../http2/hpack-decoder.ts';
import type { Outgoing, StreamListener } from '../http2/http2-stream.ts';
import type { CallStream } from './grpc-call.ts';

/** The stream of a call on a connection served by node:http2. */
export class NodeStream implements CallStream {
  listener: StreamListener | undefined;
  readonly #stream: ServerHttp2Stream;
  /** Number of received bytes that have not been consumed yet. */
  #untakenBytes = 0;
  /** Whether the response is complete, in which case the rest of the request is discarded. */
  #isAnswered = false;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
    stream.on('error', () => undefined); // `close` follows
    stream.on('data', (bytes: Buffer) => this.#receive(bytes));
    stream.on('end', () => this.listener?.onEnd?.());
    stream.on('close', () => this.listener?.onClose());
  }

  get unsentBytes(): number {
    return this.#stream.writableLength;
  }

  send({ head, data, trailers, isLast = trailers !== undefined }: Outgoing): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed || this.#isAnswered) return;
    this.#isAnswered = isLast;
    const endsWithHead = isLast && trailers === undefined;
    if (head !== undefined) stream.respond(fieldsIn(head), { endStream: endsWithHead, waitForTrailers: !endsWithHead });
    if (data !== undefined) stream.write(data, () => this.listener?.onSent?.());
    if (trailers !== undefined) {
      stream.once('wantTrailers', () => {
        stream.sendTrailers(fieldsIn(trailers));
        this.#dropRequest();
      });
      stream.end();
    }
    if (isLast) stream.resume();
    if (endsWithHead) this.#dropRequest();
  }

  take(bytes: number): void {
    this.#untakenBytes -= bytes;
    if (this.#untakenBytes <= 0) this.#stream.resume();
  }

  cut(code: number = END_CODE.cancel): void {
    this.#stream.close(code);
  }

  #receive(bytes: Buffer): void {
    if (this.#isAnswered) return this.#cut();
    this.#untakenBytes += bytes.length;
    this.listener?.onData(bytes);
    if (this.#untakenBytes > 0 && !this.#isAnswered) this.#stream.pause();
  }

  /** Resets the stream once the response has been sent, unless the client has ended its request. */
  #dropRequest(): void {
    setImmediate(() => this.#cut());
  }

  /**
   * Resets the stream if its response has been sent completely, because a reset would discard frames that node:http2 has not sent yet. If
   * the response is incomplete, this function is called again when more request data is received.
   */
  #cut(): void {
    const stream = this.#stream;
    if (!stream.destroyed && stream.state.localClose === 1) stream.close(END_CODE.noError);
  }
}

/** Decodes a header block created by `encodeLiterals`, for use with node:http2. */
function fieldsIn(block: Buffer): Record<string, string> {
  const decoder = new HpackDecoder({ tableBytes: 0, listBytes: Number.POSITIVE_INFINITY });
  return Object.fromEntries(decoder.decode(block));
}
