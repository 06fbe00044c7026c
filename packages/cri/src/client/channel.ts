import { connect as connectSocket, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { PodwrightError } from '@podwright/base';
import { type CriEndpoint, formatEndpoint } from '../endpoint.ts';
import { RequestHeads } from './request-heads.ts';
import { Session } from './session.ts';

/** Certificates of a TLS connection, PEM. A client certificate has both `certificate` and `key`. */
export type ClientTls = { ca?: Buffer; certificate?: Buffer; key?: Buffer };

/**
 * The HTTP/2 connection to one endpoint. It is made for the first call, and again for one that finds it lost; calls that come
 * meanwhile wait for it together. It keeps no process alive in which no call is under way.
 */
export class Channel {
  /** The headers of calls on its connections. */
  readonly heads: RequestHeads;
  readonly #endpoint: CriEndpoint;
  readonly #context: SecureContext | undefined;
  #connecting: Promise<Session> | undefined;
  #session: Session | undefined;
  /** All that have not ended: also the one that is being made, and those that end with the calls that they have. */
  readonly #sessions = new Set<Session>();
  #isClosed = false;

  /** Throws for certificates that cannot be read. */
  constructor(endpoint: CriEndpoint, tls?: ClientTls) {
    this.#endpoint = endpoint;
    this.#context = tls && createSecureContext({ ca: tls.ca, cert: tls.certificate, key: tls.key });
    this.heads = new RequestHeads({ scheme: tls === undefined ? 'http' : 'https', authority: authorityOf(endpoint) });
  }

  /** The connection, if it stands. */
  get usable(): Session | undefined {
    return !this.#isClosed && this.#session?.isUsable ? this.#session : undefined;
  }

  /** Rejects with `unavailable` where nobody listens, and with `cancelled` after `close`. */
  async session(): Promise<Session> {
    if (this.#isClosed) throw closed();
    if (this.usable !== undefined) return this.usable;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return await this.#connecting;
  }

  /** Why a call of this session has failed whose stream was cut, rather than ended by the other side. */
  failure(session: Session): PodwrightError {
    return this.#isClosed ? closed() : session.failure();
  }

  /** Ends all calls, and those that wait for a connection. */
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
    // a server of several names has a certificate for each
    const name = isIP(host) === 0 ? { servername: host } : {};
    const how = { host, port, ...name, onread, secureContext: this.#context, ALPNProtocols: ['h2'] };
    return connectTls(how).setNoDelay(true);
  }
}

const closed = () => new PodwrightError('cancelled', 'the connection has been closed');

function authorityOf(endpoint: CriEndpoint): string {
  return endpoint.kind === 'unix' ? 'localhost' : formatEndpoint(endpoint).replace('tcp://', '');
}
