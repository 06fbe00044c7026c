import { once } from 'node:events';
import type { Http2Server } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { errorMessage, type Logger, limitClientChains, PodwrightError, PRIVATE_FILE, wrapError } from '@podwright/base';
import { listenUnix, type SocketFile } from '@podwright/host';
import { formatEndpoint, parseEndpoint } from '../endpoint.ts';
import { MAX_CONNECTIONS, MAX_WAITING_CONNECTIONS, PREFACE_TIMEOUT_MS } from '../limits.ts';
import type { GrpcServer } from './grpc-server.ts';
import { NODE_SESSION_BOUNDS } from './node-session.ts';

/**
 * A TCP listener. If `clientCa` (PEM) is set, only clients with a certificate issued by that CA may connect. If `tls` is omitted,
 * connections are in plaintext, and any client that can reach the address may connect.
 */
export type TcpOptions = {
  address: string;
  /** Port 0 selects any free port. */
  port: number;
  tls?: { certificate: Buffer; key: Buffer; clientCa?: Buffer };
};

/** The gRPC server that serves the accepted connections. `acceptSession` is required only for TCP. */
type ConnectionServer = Pick<GrpcServer, 'accept'> & Partial<Pick<GrpcServer, 'acceptSession'>>;

/** A server's listening sockets and open connections. */
export class Listeners {
  /** URL of the Unix socket. */
  readonly endpoint: string;
  readonly tcpPort: number | undefined;
  readonly #servers: Server[];
  readonly #socketFile: SocketFile;
  readonly #connections: Set<Socket>;

  private constructor(servers: Server[], socketFile: SocketFile, connections: Set<Socket>) {
    this.#servers = servers;
    this.#socketFile = socketFile;
    this.#connections = connections;
    this.endpoint = formatEndpoint({ kind: 'unix', path: socketFile.path });
    const address = servers[1]?.address();
    this.tcpPort = typeof address === 'object' ? address?.port : undefined;
  }

  /**
   * Listens on the Unix socket and, if configured, on TCP. Connections over the Unix socket are served by this package's own HTTP/2
   * implementation, those over TCP by node:http2: every TCP client sends an `:authority` that node:http2 accepts, and TCP calls are too
   * rare for its cost to matter.
   */
  static async open(
    options: { socket: string; mode?: number; tcp?: TcpOptions; logger: Logger },
    server: ConnectionServer,
  ): Promise<Listeners> {
    const connections = new Set<Socket>();
    const onConnection = (socket: Socket) => {
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
    };
    const unix = createServer((socket) => {
      onConnection(socket);
      server.accept(socket);
    });
    const socketFile = await listenUnix(unix, socketPath(options.socket), options.mode ?? PRIVATE_FILE);
    try {
      const servers =
        options.tcp === undefined ? [unix] : [unix, await listenTcp(options.tcp, { server, onConnection })];
      for (const server of servers) server.on('error', (error) => logAcceptError(options.logger, error));
      return new Listeners(servers, socketFile, connections);
    } catch (error) {
      unix.close();
      await socketFile.remove();
      throw error;
    }
  }

  /** Stops accepting connections and removes the socket. */
  async stop(): Promise<void> {
    for (const server of this.#servers) server.close();
    await this.#socketFile.remove();
  }

  /** Resolves once all connections are closed, or after `graceMs`. */
  async drained(graceMs: number): Promise<void> {
    const timeout = AbortSignal.timeout(graceMs);
    for (const socket of this.#connections) {
      if (timeout.aborted) return;
      await once(socket, 'close', { signal: timeout }).catch(() => undefined);
    }
  }

  destroyConnections(): void {
    for (const socket of this.#connections) socket.destroy();
  }
}

function socketPath(socket: string): string {
  const endpoint = parseEndpoint(socket);
  if (endpoint.kind === 'unix') return endpoint.path;
  throw new PodwrightError('invalid_argument', `socket ${socket}: expected the path of a unix socket`);
}

/** Logs that a connection could not be accepted, for example because too many files are open. The server keeps running. */
function logAcceptError(logger: Logger, error: Error): void {
  logger.error({ error: errorMessage(error) }, 'accept a connection');
}

async function listenTcp(
  { address, port, tls }: TcpOptions,
  { server, onConnection }: { server: ConnectionServer; onConnection: (socket: Socket) => void },
): Promise<Server> {
  const endpoint = formatEndpoint({ kind: 'tcp', host: address, port });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  try {
    const listener = await createHttp2Server(tls);
    listener.maxConnections = MAX_CONNECTIONS;
    listener.on(tls === undefined ? 'connection' : 'secureConnection', onConnection);
    listener.on('session', (session) => server.acceptSession?.(session));
    if (tls !== undefined) limitWaiting(listener);
    listener.on('sessionError', () => undefined); // the session's listener handles it
    listener.once('error', reject).listen(port, address, resolve);
    await promise;
    listener.off('error', reject);
    return listener;
  } catch (error) {
    throw wrapError(`listen on ${endpoint}`, error, 'internal');
  }
}

/** Limits the number of connections whose TLS handshake is incomplete, so that they cannot use up all connections. */
function limitWaiting(listener: Http2Server): void {
  const waiting = new Map<string, Socket>();
  // the client's address and port identify a connection, because no two open connections to a listener share them
  const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  listener.on('connection', (socket: Socket) => {
    const name = nameOf(socket);
    waiting.set(name, socket);
    socket.once('close', () => {
      if (waiting.get(name) === socket) waiting.delete(name);
    });
    const [oldest] = waiting;
    if (oldest === undefined || waiting.size <= MAX_WAITING_CONNECTIONS) return;
    waiting.delete(oldest[0]);
    oldest[1].destroy();
  });
  listener.on('secureConnection', (socket: Socket) => waiting.delete(nameOf(socket)));
}

/** Creates the HTTP/2 server for TCP clients, with TLS if configured. Throws if a certificate or key is invalid. */
async function createHttp2Server(tls: TcpOptions['tls']): Promise<Http2Server> {
  const { createServer, createSecureServer } = await import('node:http2');
  if (tls === undefined) return createServer(NODE_SESSION_BOUNDS);
  const { certificate, key, clientCa } = tls;
  const server = createSecureServer({
    ...NODE_SESSION_BOUNDS,
    cert: certificate,
    key,
    ca: clientCa,
    requestCert: clientCa !== undefined,
    handshakeTimeout: PREFACE_TIMEOUT_MS,
    unknownProtocolTimeout: PREFACE_TIMEOUT_MS,
  });
  limitClientChains(server);
  return server;
}
