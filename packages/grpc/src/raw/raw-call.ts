import { type ByteBudget, PodwrightError } from '@podwright/base';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import type { StreamListener } from '../http2/http2-stream.ts';
import type { HeaderField } from '../http2/static-table.ts';
import { type CallStream, errorStatus, HEADERS } from '../server/grpc-call.ts';
import { UnreadMessages } from './unread-messages.ts';

/**
 * A call received by a server that does not know its method. Messages are raw bytes as on the wire, including their prefixes, and may be
 * compressed. Sending is a no-op once the client has ended the call.
 */
export class RawCall implements StreamListener {
  /** All header fields of the request, in order, including `:path`. */
  readonly fields: readonly HeaderField[];
  readonly #stream: CallStream;
  readonly #unread = new UnreadMessages();
  readonly #share: ReturnType<ByteBudget['open']>;
  readonly #controller = new AbortController();
  #hasEnded = false;
  #isOpen = false;
  #isAnswered = false;
  #room: PromiseWithResolvers<void> | undefined;

  /** `budget` bounds the total memory of the requests of all calls. */
  constructor(stream: CallStream, fields: readonly HeaderField[], budget: ByteBudget) {
    this.fields = fields;
    this.#stream = stream;
    this.#share = budget.open();
    stream.listener = this;
  }

  /** Aborts with `cancelled` when the client ends the call or disconnects before the call has been answered. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Returns the value of a request header, or its first value if the header is repeated. */
  header(name: string): string | undefined {
    return this.fields.find(([other]) => other === name)?.[1];
  }

  /**
   * Yields the request messages. Throws `resource_exhausted` if a message is too large or the requests of all calls exceed the budget, and
   * `cancelled` if the client ends the call before its last message.
   */
  async *messages(): AsyncGenerator<Buffer> {
    yield* this.#unread.read((bytes) => {
      if (!this.#share.reserve(bytes))
        throw new PodwrightError('resource_exhausted', 'clients have sent too many bytes of incomplete requests');
      this.#stream.take(bytes);
    });
    this.signal.throwIfAborted();
  }

  /** Sends the response headers. */
  open(fields: readonly HeaderField[]): void {
    this.#isOpen = true;
    this.#stream.send({ head: encodeLiterals(fields) });
  }

  /** Sends a message. Resolves when there is room for the next one, or when the stream is closed. */
  async send(message: Buffer): Promise<void> {
    this.#stream.send({ data: message });
    if (this.#stream.unsentBytes === 0) return;
    this.#room ??= Promise.withResolvers();
    await this.#room.promise;
  }

  /** Sends a complete response with a single message. */
  reply({ headers, message, trailers }: Record<'headers' | 'trailers', readonly HeaderField[]> & { message: Buffer }) {
    this.#isAnswered = true;
    this.#stream.send({ head: encodeLiterals(headers), data: message, trailers: encodeLiterals(trailers) });
  }

  /** Ends the call with these trailers. If `open` has not been called, the response is trailers-only. */
  end(trailers: readonly HeaderField[]): void {
    this.#isAnswered = true;
    if (this.#isOpen) this.#stream.send({ trailers: encodeLiterals(trailers) });
    else this.#stream.send({ head: encodeLiterals(trailers), isLast: true });
  }

  /** Ends the call with the gRPC status that corresponds to an error thrown in this process. */
  fail(error: unknown): void {
    this.end(this.#isOpen ? errorStatus(error) : [...HEADERS, ...errorStatus(error)]);
  }

  /** Ends the call by resetting its stream. */
  reset(code: number): void {
    this.#isAnswered = true;
    this.#stream.cut(code);
  }

  onData(bytes: Buffer): void {
    this.#unread.add(bytes);
  }

  onEnd(): void {
    this.#hasEnded = true;
    this.#unread.end();
  }

  onSent(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  onClose(): void {
    this.#share[Symbol.dispose]();
    if (!this.#isAnswered || !this.#hasEnded)
      this.#controller.abort(new PodwrightError('cancelled', 'the client has ended the call'));
    this.onSent();
    this.#unread.end();
  }
}
