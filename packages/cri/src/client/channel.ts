import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectSocket, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { PodwrightError, wrapError } from '@podwright/base';
import { type CriEndpoint, formatEndpoint } from '../endpoint.ts';

/** Certificates of a TLS connection, PEM. A client certificate has both `certificate` and `key`. */
export type ClientTls = { ca?: Buffer; certificate?: Buffer; key?: Buffer };

/** How much of an answer may come at once: lists of hundreds of containers come without waiting for us in between. */
const WINDOW_BYTES = 1 << 20;

/**
 * The HTTP/2 connection to one endpoint. It is made for the first call, and again for one that finds it lost; calls that come
 * meanwhile wait for it together. It keeps no process alive in which no call is under way.
 */
export class Channel {
  readonly #endpoint: CriEndpoint;
  readonly #context: SecureContext | undefined;
  #connecting: Promise<ClientHttp2Session> | undefined;
  #session: ClientHttp2Session | undefined;
  #calls = 0;
  #isClosed = false;

  /** Throws for certificates that cannot be read. */
  constructor(endpoint: CriEndpoint, tls?: ClientTls) {
    this.#endpoint = endpoint;
    this.#context = tls && createSecureContext({ ca: tls.ca, cert: tls.certificate, key: tls.key });
  }

  /** Rejects with `unavailable` where nobody listens, and with `cancelled` after `close`. */
  async session(): Promise<ClientHttp2Session> {
    if (this.#isClosed) throw closed();
    const session = this.#session;
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return await this.#connecting;
  }

  /** Begins a call on a session of this channel. Throws `unavailable` if it has been lost meanwhile. */
  request(session: ClientHttp2Session, headers: OutgoingHttpHeaders): ClientHttp2Stream {
    if (session.closed || session.destroyed) throw this.failure();
    const stream = session.request(headers);
    if (this.#calls++ === 0) session.ref();
    stream.once('close', () => {
      if (--this.#calls === 0) session.unref();
    });
    return stream;
  }

  /** Why a call has failed whose stream was cut, rather than ended by the other side. */
  failure(): PodwrightError {
    if (this.#isClosed) return closed();
    return new PodwrightError('unavailable', `the connection to ${formatEndpoint(this.#endpoint)} was lost`);
  }

  /** Ends all calls. */
  close(): void {
    this.#isClosed = true;
    this.#session?.destroy();
  }

  async #connect(): Promise<ClientHttp2Session> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const session = connect(`${this.#context === undefined ? 'http' : 'https'}://${authorityOf(this.#endpoint)}`, {
      createConnection: () => this.#dial(),
      settings: { initialWindowSize: WINDOW_BYTES, enablePush: false },
      maxSessionMemory: Number.MAX_SAFE_INTEGER,
    });
    session.once('connect', () => resolve());
    session.once('goaway', () => this.#forget(session));
    session.once('close', () => {
      this.#forget(session);
      reject(this.failure());
    });
    // once it stands, its calls tell
    session.on('error', (error) =>
      reject(wrapError(`connect to ${formatEndpoint(this.#endpoint)}`, reasonOf(error), 'unavailable')),
    );
    await promise;
    if (this.#isClosed) session.destroy();
    session.setLocalWindowSize(WINDOW_BYTES);
    session.unref();
    this.#session = session;
    return session;
  }

  #dial(): Socket {
    if (this.#endpoint.kind === 'unix') return connectSocket(this.#endpoint.path);
    const { host, port } = this.#endpoint;
    if (this.#context === undefined) return connectSocket({ host, port, noDelay: true });
    return connectTls({ host, port, secureContext: this.#context, ALPNProtocols: ['h2'] });
  }

  #forget(session: ClientHttp2Session): void {
    if (this.#session === session) this.#session = undefined;
  }
}

const closed = () => new PodwrightError('cancelled', 'the connection has been closed');

/** A name that has several addresses fails for each. */
function reasonOf(error: Error): unknown {
  return error instanceof AggregateError ? error.errors[0] : error;
}

function authorityOf(endpoint: CriEndpoint): string {
  return endpoint.kind === 'unix' ? 'localhost' : formatEndpoint(endpoint).replace('tcp://', '');
}
