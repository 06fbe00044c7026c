import { connect as connectSocket, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { PodwrightError } from '@podwright/base';
import { type Endpoint, formatEndpoint } from '../endpoint.ts';
import { RequestHeads } from './request-heads.ts';
import { Session } from './session.ts';

/** Certificates for a TLS connection, in PEM format. A client certificate requires both `certificate` and `key`. */
export type ClientTls = { ca?: Buffer; certificate?: Buffer; key?: Buffer };

/**
 * The HTTP/2 connection to an endpoint. It is opened by the first call, and reopened by the next call after it is lost. Concurrent calls
 * share one connection attempt. The connection does not keep the process alive while no call is in flight.
 */
export class Channel {
  /** Encodes the request headers of this channel's calls. */
  readonly heads: RequestHeads;
  readonly #endpoint: Endpoint;
  readonly #context: SecureContext | undefined;
  #connecting: Promise<Session> | undefined;
  #session: Session | undefined;
  /**
   * All sessions that have not ended, including one that is being opened and those that are only finishing their in-flight calls after a
   * GOAWAY.
   */
  readonly #sessions = new Set<Session>();
  #isClosed = false;

  /** Throws if a certificate cannot be parsed. */
  constructor(endpoint: Endpoint, tls?: ClientTls) {
    this.#endpoint = endpoint;
    this.#context = tls && createSecureContext({ ca: tls.ca, cert: tls.certificate, key: tls.key });
    this.heads = new RequestHeads({ scheme: tls === undefined ? 'http' : 'https', authority: authorityOf(endpoint) });
  }

  /** Returns the open session, if it accepts new calls. */
  get usable(): Session | undefined {
    return !this.#isClosed && this.#session?.isUsable ? this.#session : undefined;
  }

  /** Returns the open session, or opens one. Rejects with `unavailable` if no server is listening, and with `cancelled` after `close`. */
  async session(): Promise<Session> {
    if (this.#isClosed) throw closed();
    if (this.usable !== undefined) return this.usable;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return await this.#connecting;
  }

  /** Returns the error for a call whose stream was closed before the server ended it. */
  failure(session: Session): PodwrightError {
    return this.#isClosed ? closed() : session.failure();
  }

  /** Ends all calls, including those waiting for a connection. */
  close(): void {
    this.#isClosed = true;
    for (const session of this.#sessions) session.destroy();
  }

  async #connect(): Promise<Session> {
    const session: Session = new Session(
      { name: formatEndpoint(this.#endpoint), dial: (onread) => this.#dial(onread) },
      () => this.#sessions.delete(session),
    );
    this.#sessions.add(session);
    try {
      await session.connected();
    } catch (error) {
      throw this.#isClosed ? closed() : error;
    }
    if (this.#isClosed) throw closed();
    this.#session = session;
    return session;
  }

  #dial(onread: OnReadOpts): Socket {
    if (this.#endpoint.kind === 'unix') return connectSocket({ path: this.#endpoint.path, onread });
    const { host, port } = this.#endpoint;
    if (this.#context === undefined) return connectSocket({ host, port, onread, noDelay: true });
    // SNI: a server with several names has a certificate for each of them
    const name = isIP(host) === 0 ? { servername: host } : {};
    const how = { host, port, ...name, onread, secureContext: this.#context, ALPNProtocols: ['h2'] };
    return connectTls(how).setNoDelay(true);
  }
}

const closed = () => new PodwrightError('cancelled', 'the connection has been closed');

function authorityOf(endpoint: Endpoint): string {
  return endpoint.kind === 'unix' ? 'localhost' : formatEndpoint(endpoint).replace('tcp://', '');
}
