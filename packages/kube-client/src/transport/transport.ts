import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { type BackoffPolicy, nodeLookups, PodwrightError, raceAbort, withTimeout } from '@podwright/base';
import { CONNECT_TIMEOUT_MS, MAX_CONNECTIONS, UNANSWERED_BACKOFF } from '../limits.ts';
import { ConnectPauses } from './connect-pauses.ts';
import { connectionError } from './connection-error.ts';
import type { HttpAnswer, HttpRequest, ServerAddress, TlsOptions } from './http-exchange.ts';
import { Http1Connections } from './http1-connections.ts';
import { Http2Connection, type PingTimes } from './http2-connection.ts';

export type TransportOptions = {
  address: ServerAddress;
  /** Returns the TLS options. Called for each new connection, so changes apply from the next connection on. */
  tls: () => TlsOptions | Promise<TlsOptions>;
  pings?: PingTimes;
  /** Backoff for connections that are closed without a response. */
  pauses?: BackoffPolicy;
};

/**
 * Sends requests to one server under one identity. Uses a single HTTP/2 connection, and opens more only when the open ones accept no more
 * calls. If the server does not offer HTTP/2, HTTP/1.1 is used until `reconnect` is called.
 */
export class Transport {
  readonly #options: TransportOptions;
  readonly #origin: string;
  readonly #connections = new Set<Http2Connection>();
  #http1: Http1Connections | undefined;
  #pauses: ConnectPauses;
  #connecting: Promise<void> | undefined;
  /** Aborted by `reconnect` to discard connection attempts in progress. */
  #era = new AbortController();
  #isClosed = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#pauses = new ConnectPauses(options.pauses ?? UNANSWERED_BACKOFF);
    const { protocol, host, port } = options.address;
    this.#origin = `${protocol}//${host}:${port}`;
  }

  /**
   * Sends a request and returns the response. Rejects with `unavailable` or with the signal's abort reason. If the signal aborts later, the
   * response body is also aborted.
   */
  async send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#isClosed) throw new PodwrightError('cancelled', `${this.#origin}: the client was closed`);
      if (this.#http1 !== undefined) return this.#http1.send(request, signal);
      const connection = [...this.#connections].find(({ hasRoom }) => hasRoom);
      if (connection !== undefined) return connection.send(request, signal);
      if (this.#connections.size >= MAX_CONNECTIONS)
        throw new PodwrightError('unavailable', `${this.#origin}: the server accepts no more concurrent calls`);
      await this.#connectOnce(signal);
    }
  }

  /** Closes all connections and aborts their calls. Later calls open new connections. */
  reconnect(): void {
    this.#era.abort(new PodwrightError('unavailable', `${this.#origin}: reconnecting`));
    this.#era = new AbortController();
    this.#connecting = undefined;
    this.#pauses = new ConnectPauses(this.#options.pauses ?? UNANSWERED_BACKOFF);
    for (const connection of this.#connections) connection.destroy();
    this.#connections.clear();
    this.#http1?.destroy();
    this.#http1 = undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.reconnect();
  }

  /** Connects; concurrent callers share one attempt. An attempt aborted by `reconnect` is not an error, because the caller retries. */
  async #connectOnce(signal: AbortSignal): Promise<void> {
    const era = this.#era;
    if (this.#connecting === undefined) {
      const connecting = this.#connect().finally(() => {
        if (this.#connecting === connecting) this.#connecting = undefined;
      });
      this.#connecting = connecting;
    }
    try {
      await raceAbort(this.#connecting, signal);
    } catch (error) {
      if (signal.aborted || era === this.#era) throw error;
    }
  }

  async #connect(): Promise<void> {
    const { address, tls } = this.#options;
    const era = this.#era.signal;
    if (address.protocol === 'http:') {
      this.#http1 = new Http1Connections(address, {});
      return;
    }
    await this.#pauses.wait(era);
    using signal = withTimeout(era, CONNECT_TIMEOUT_MS, `connect to ${this.#origin}`);
    const options = tlsConnectOptions(address, await raceAbort(Promise.resolve(tls()), signal));
    const socket = await this.#openSocket(options, signal);
    if (socket.alpnProtocol === 'h2') return await this.#keep(socket, signal); // awaited here, or the signal would be disposed of first
    socket.destroy();
    era.throwIfAborted();
    this.#http1 = new Http1Connections(address, options);
  }

  async #keep(socket: TLSSocket, signal: AbortSignal): Promise<void> {
    const { pings } = this.#options;
    const pauses = this.#pauses;
    const onClosed = (wasAnswered: boolean) => {
      if (this.#connections.delete(connection) && !wasAnswered) pauses.ended();
    };
    const onIdle = () => {
      if (this.#connections.size === 1 && this.#connections.has(connection)) return;
      this.#connections.delete(connection);
      connection.close();
    };
    const connection: Http2Connection = await Http2Connection.over(
      socket,
      { origin: this.#origin, pings, onClosed, onIdle, onAnswer: () => pauses.answered() },
      signal,
    ).catch((error: unknown) => {
      if (!signal.aborted) pauses.ended();
      throw error;
    });
    if (signal.aborted) return connection.destroy();
    this.#connections.add(connection);
  }

  #openSocket(options: ConnectionOptions, signal: AbortSignal): Promise<TLSSocket> {
    const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
    const { address } = this.#options;
    const plain: Socket = connectSocket({
      host: unbracketed(address.host),
      port: address.port,
      lookup: nodeLookups.lookup,
    });
    plain.setNoDelay(true);
    plain.setKeepAlive(true, CONNECT_TIMEOUT_MS);
    const fail = (error: unknown) => {
      plain.destroy();
      reject(signal.aborted ? signal.reason : connectionError(error, this.#origin));
    };
    const stop = () => fail(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    plain.once('error', fail);
    try {
      const socket = connectTls({ ...options, socket: plain, ALPNProtocols: ['h2', 'http/1.1'] });
      socket.on('error', fail);
      socket.once('secureConnect', () => resolve(socket));
      socket.once('close', () => fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
    } catch (error) {
      fail(new PodwrightError('invalid_argument', `connect to ${this.#origin}: ${(error as Error).message}`));
    }
    return promise.finally(() => signal.removeEventListener('abort', stop));
  }
}

function tlsConnectOptions(address: ServerAddress, tls: TlsOptions): ConnectionOptions {
  const name = tls.serverName ?? unbracketed(address.host);
  return {
    host: name, // the name that the certificate must have
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls.certificate === undefined ? {} : { cert: tls.certificate, key: tls.key }),
    rejectUnauthorized: tls.insecureSkipTlsVerify !== true,
    minVersion: 'TLSv1.2',
  };
}

function unbracketed(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
