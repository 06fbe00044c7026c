import type { PodwrightError } from '@podwright/base';
import { Channel, type ClientTls } from '../client/channel.ts';
import type { Session } from '../client/session.ts';
import type { Endpoint } from '../endpoint.ts';
import { encodeLiterals } from '../http2/hpack-encoder.ts';
import type { Http2Stream } from '../http2/http2-stream.ts';
import type { HeaderField } from '../http2/static-table.ts';
import { UnreadMessages } from './unread-messages.ts';

/** How a raw call ended: with the server's trailers, a stream reset, or a lost connection. */
export type RawEnd =
  | { kind: 'trailers'; fields: readonly HeaderField[] }
  | { kind: 'reset'; code: number }
  | { kind: 'lost'; error: PodwrightError };

/**
 * A client for proxies: makes calls to one endpoint without knowing their methods. The connection is opened by the first call, and reopened
 * by the next call after it is lost.
 */
export class RawConnection {
  readonly #channel: Channel;

  constructor(endpoint: Endpoint, tls?: ClientTls) {
    this.#channel = new Channel(endpoint, tls);
  }

  /**
   * Starts a call with exactly these header fields. `request` is the complete request; if it is omitted, the caller sends messages on the
   * returned stream. Rejects with `unavailable` if no server is listening, and with the signal's reason if it aborts.
   */
  async begin(
    fields: readonly HeaderField[],
    { request, signal }: { request?: Buffer; signal?: AbortSignal } = {},
  ): Promise<RawStream> {
    const session = this.#channel.usable ?? (await this.#channel.session());
    signal?.throwIfAborted();
    const lost = () => this.#channel.failure(session);
    return new RawStream(session, { head: encodeLiterals(fields), body: request, signal, lost });
  }

  /** Ends all calls and closes the connection. */
  close(): void {
    this.#channel.close();
  }
}

type Begun = { head: Buffer; body: Buffer | undefined; signal: AbortSignal | undefined; lost: () => PodwrightError };

/** A call to a server. Messages are raw bytes as on the wire, including their prefixes, and may be compressed. */
export class RawStream {
  readonly #stream: Http2Stream;
  readonly #unread = new UnreadMessages();
  readonly #headers = Promise.withResolvers<readonly HeaderField[] | undefined>();
  readonly #ended = Promise.withResolvers<RawEnd>();
  #hasHeaders = false;
  #trailers: readonly HeaderField[] | undefined;
  #room: PromiseWithResolvers<void> | undefined;

  constructor(session: Session, { head, body, signal, lost }: Begun) {
    const abort = () => this.reset();
    signal?.addEventListener('abort', abort, { once: true });
    this.#stream = session.begin(
      { head, body },
      {
        onHeaders: (fields, isLast) => this.#receiveHeaders(fields, isLast),
        onData: (bytes) => this.#unread.add(bytes),
        onSent: () => this.#makeRoom(),
        onClose: () => {
          signal?.removeEventListener('abort', abort);
          this.#ended.resolve(this.#endOf(session, lost));
          this.#headers.resolve(undefined);
          this.#unread.end();
          this.#makeRoom();
        },
      },
    );
  }

  /** The response headers; `undefined` if the response is trailers-only, like that of most failed calls. */
  get headers(): Promise<readonly HeaderField[] | undefined> {
    return this.#headers.promise;
  }

  /** Resolves when the call has ended. Messages received before that might still be unread. */
  get ended(): Promise<RawEnd> {
    return this.#ended.promise;
  }

  /** Yields the response messages. Breaking out of the iteration resets the call. */
  async *messages(): AsyncGenerator<Buffer> {
    try {
      yield* this.#unread.read((bytes) => this.#stream.take(bytes));
    } finally {
      this.reset();
    }
  }

  /** Sends a request message. Resolves when there is room for the next one, or when the stream is closed. */
  async send(message: Buffer): Promise<void> {
    this.#stream.send({ data: message });
    if (this.#stream.unsentBytes === 0) return;
    this.#room ??= Promise.withResolvers();
    await this.#room.promise;
  }

  /** Ends the request: no more messages will be sent. */
  end(): void {
    this.#stream.send({ isLast: true });
  }

  /** Cancels the call. A no-op if the call has ended. */
  reset(): void {
    this.#stream.cut();
  }

  #receiveHeaders(fields: readonly HeaderField[], isLast: boolean): void {
    if (fields.some(([name, value]) => name === ':status' && value.startsWith('1'))) return; // the final response follows
    if (isLast) this.#trailers = fields;
    else if (this.#hasHeaders) return this.reset();
    else this.#headers.resolve(fields);
    this.#hasHeaders = true;
  }

  #endOf(session: Session, lost: () => PodwrightError): RawEnd {
    if (this.#trailers !== undefined) return { kind: 'trailers', fields: this.#trailers };
    if (session.isDestroyed) return { kind: 'lost', error: lost() };
    return { kind: 'reset', code: this.#stream.closeCode ?? 0 };
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
