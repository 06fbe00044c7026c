import type { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http';
import { createSecureServer, type Http2SecureServer, type Http2ServerRequest } from 'node:http2';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { tooManyRequests } from '@podwright/api-machinery';
import { errorMessage, type Logger, limitClientChains, PRIVATE_FILE, sleep } from '@podwright/base';
import { listenUnix, type SocketFile } from '@podwright/host';
import { CallerConnections, type CallerLimits, WaitingClients } from '@podwright/streaming';
import { callerOf } from '../authorization/known-users.ts';
import type { HttpResponse } from '../wire/http-exchange.ts';
import {
  CALLER_CONNECTIONS,
  HTTP1_BOUNDS,
  HTTP2_BOUNDS,
  LISTEN_BACKLOG,
  MAX_CONNECTIONS,
  MAX_UNAUTHENTICATED_MS,
} from './listener-bounds.ts';
import { OpenConnections } from './open-connections.ts';
import type { CallHandler, HttpCall } from './request-handler.ts';
import type { RequestInfo } from './request-info.ts';
import type { ClientConnection } from './server-parts.ts';
import { isUpgradable, upgradeCall } from './upgrade-call.ts';

/** How long in-flight requests may take to complete on shutdown. */
const MAX_DRAIN_MS = 10_000;

/** Serving certificate and key, and the CA certificates that verify client certificates, all PEM. */
export type ServingCertificate = { certificate: string; key: string; clientAuthorities: string[] };

export type SecureAddress = { host: string; port: number };

type AnyRequest = IncomingMessage | Http2ServerRequest;

/** Hooks for limiting connections from unknown clients to the TLS port, before a handshake costs time and memory. */
export type StrangerConnections = {
  onListening: (server: NetServer) => void;
  /** Called for each request of an authenticated user, so that the connection no longer counts as one of an unknown client. */
  onAuthenticated: (connection: Socket) => void;
};

export type ApiListenersParts = {
  handler: CallHandler;
  logger: Logger;
  /** Called before each TLS handshake. May replace the server's certificate, which then applies to this handshake already. */
  beforeHandshake?: () => void;
  /** How long a TLS connection may stay open without an authenticated request. Default: MAX_UNAUTHENTICATED_MS. */
  maxUnauthenticatedMs?: number;
  /** Connection limits for authenticated users. Default: CALLER_CONNECTIONS. */
  callerLimits?: CallerLimits;
  /** Whether a request is served by an extension API server. Default: none is. */
  isExtension?: (info: RequestInfo) => boolean;
};

/** Listens on a unix socket that only root can access, and over TLS with HTTP/2 and HTTP/1.1. */
export class ApiListeners {
  readonly #parts: ApiListenersParts;
  readonly #connections = new OpenConnections();
  readonly #waiting: WaitingClients;
  readonly #callers: CallerConnections;
  #local: { server: Server; file: SocketFile } | undefined;
  readonly #secure: Http2SecureServer[] = [];

  constructor(parts: ApiListenersParts) {
    this.#parts = parts;
    const { maxUnauthenticatedMs = MAX_UNAUTHENTICATED_MS, callerLimits = CALLER_CONNECTIONS } = parts;
    this.#waiting = new WaitingClients(maxUnauthenticatedMs);
    this.#callers = new CallerConnections(callerLimits);
  }

  /**
   * Listens on a unix socket whose clients are treated as administrators. Throws `already_exists` if the socket is in use by a running
   * server.
   */
  async listenLocal(path: string): Promise<void> {
    const local: ClientConnection = { isLocal: true };
    const server = createServer(this.#options());
    this.#accept(server, () => local);
    this.#local = { server, file: await listenUnix(server, path, PRIVATE_FILE) };
  }

  /**
   * Listens over TLS. Returns the port, which the operating system assigns if `port` is 0. If `strangers` is unset, unknown clients are
   * limited only by the maximum number of connections. Rejects with listen(2)'s error.
   */
  async listenSecure(
    { host, port }: SecureAddress,
    certificate: ServingCertificate,
    strangers?: StrangerConnections,
  ): Promise<number> {
    const server = createSecureServer({
      ...this.#options(),
      ...HTTP2_BOUNDS,
      ...tlsOptions(certificate),
      allowHTTP1: true,
      requestCert: true,
      rejectUnauthorized: false, // the authenticator refuses such certificates, and tokens may be valid all the same
    });
    limitClientChains(server);
    const connectionOf = (request: AnyRequest): ClientConnection => {
      const socket = ('stream' in request ? request.stream.session?.socket : request.socket) as TLSSocket;
      return {
        isLocal: false,
        tlsSocket: socket,
        use: () => (socket === undefined ? () => undefined : this.#callers.use(socket)), // the session may have ended
        authenticated: (username) => this.#authenticated(socket, username, strangers),
      };
    };
    server.on('session', (session) => this.#connections.addSession(session));
    server.on('sessionError', () => undefined);
    const { beforeHandshake } = this.#parts;
    if (beforeHandshake !== undefined) server.prependListener('connection', beforeHandshake); // the first listener begins the handshake
    server.on('connection', (socket: Socket) => this.#waiting.add(socket));
    server.on('tlsClientError', (error) =>
      this.#parts.logger.debug({ error: errorMessage(error) }, 'a TLS handshake failed'),
    );
    this.#accept(server, connectionOf);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('listening', resolve).once('error', reject).listen({ port, host, backlog: LISTEN_BACKLOG });
    await promise;
    strangers?.onListening(server);
    this.#secure.push(server);
    return (server.address() as AddressInfo).port;
  }

  /** Replaces the certificate used for new connections. */
  replaceCertificate(certificate: ServingCertificate): void {
    for (const server of this.#secure) {
      server.setSecureContext(tlsOptions(certificate));
      limitClientChains(server);
    }
  }

  /** Refuses new connections, waits up to `maxDrainMs` for in-flight requests to complete, then closes all connections. */
  async stop(maxDrainMs = MAX_DRAIN_MS): Promise<void> {
    await this.#local?.file.remove();
    const servers = [this.#local?.server, ...this.#secure].filter((server) => server !== undefined);
    const closed = servers.map((server) => new Promise<void>((resolve) => void server.close(() => resolve())));
    this.#connections.retire();
    const abort = new AbortController();
    const drained = this.#parts.handler.stop();
    await Promise.race([drained, sleep(maxDrainMs, abort.signal).catch(() => undefined)]);
    abort.abort();
    this.#connections.destroy();
    await Promise.all(closed);
  }

  #options(): ServerOptions {
    const { isExtension } = this.#parts;
    return { ...HTTP1_BOUNDS, shouldUpgradeCallback: (request) => isUpgradable(request, isExtension) };
  }

  #authenticated(socket: TLSSocket, username: string, strangers: StrangerConnections | undefined): void {
    // a refused connection still counts as unauthenticated, and is closed after a timeout
    if (!this.#callers.admit(socket, callerOf(username)))
      throw tooManyRequests('Too many connections of this user are in use, please try again later.', 1);
    this.#waiting.admit(socket);
    strangers?.onAuthenticated(socket);
  }

  #accept(server: Server | Http2SecureServer, connectionOf: (request: AnyRequest) => ClientConnection): void {
    const { handler } = this.#parts;
    /**
     * Handles an HTTP call. `used`: the response or socket that emits `close` once the call is complete; until then, the connection counts
     * as in use.
     */
    const handle = (call: HttpCall, used: EventEmitter, connection: ClientConnection) => {
      if (!connection.isLocal) used.once('close', connection.use());
      handler.handle(call, connection);
    };
    server.maxConnections = MAX_CONNECTIONS;
    server.on('connection', (socket: Socket) => this.#connections.add(socket));
    server.on('request', (request: AnyRequest, response: HttpResponse) =>
      handle({ request, response }, response, connectionOf(request)),
    );
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      handle(upgradeCall(request, socket, head), socket, connectionOf(request)),
    );
  }
}

const tlsOptions = ({ certificate, key, clientAuthorities }: ServingCertificate) => ({
  cert: certificate,
  key,
  ca: clientAuthorities,
  minVersion: 'TLSv1.2' as const,
});
