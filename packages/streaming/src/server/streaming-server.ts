import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorMessage, type Logger, pause, wrapError } from '@podwright/base';
import { CLOSE_TIMEOUT_MS, KEEP_ALIVE_MS } from '../limits.ts';
import type { CountBuffer } from '../read-buffers.ts';
import type { ServedRequest, UpgradingClient } from './serve-spdy.ts';
import type { StreamingRequest } from './streaming-request.ts';
import { TokenCache } from './tokens.ts';
import { refuseUpgrade } from './upgrade-answers.ts';
import { WaitingClients } from './waiting-clients.ts';

/** `address` should be reachable only from this host. Port 0 selects a free port. With `tls` (PEM), URLs use https. */
export type StreamingServerOptions = {
  address: string;
  port: number;
  tls?: { certificate: Buffer; key: Buffer };
  logger: Logger;
  /** Counts the bytes of all connections' buffers. */
  countBuffer?: CountBuffer;
};

/** Maximum number of concurrent sessions; further ones are rejected. */
const MAX_SESSIONS = 1000;

/**
 * Serves exec, attach and port-forward over SPDY/3.1 and WebSocket. Each URL contains a token that is valid once, for a minute. There is no
 * other authentication, so the server should listen on loopback. Clients without a token cannot block clients that have one.
 */
export class StreamingServer {
  readonly #tokens = new TokenCache<StreamingRequest>();
  readonly #waiting = new WaitingClients();
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #sessions = new Set<Promise<void>>();
  readonly #options: StreamingServerOptions;
  #base = '';

  constructor(options: StreamingServerOptions) {
    this.#options = options;
    const settings = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, noDelay: true };
    const { tls } = options;
    this.#server =
      tls === undefined
        ? createServer(settings, refusePlain)
        : createTlsServer(
            { ...settings, cert: tls.certificate, key: tls.key, ALPNProtocols: ['http/1.1'] },
            refusePlain,
          );
    this.#server.on('connection', (socket: Socket) => this.#waiting.add(socket));
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade({ request, socket, head }, request.url ?? ''));
  }

  /** Listens on the address; rejects with the server's error (`EADDRINUSE`, `EADDRNOTAVAIL`) if that fails. */
  async listen(): Promise<void> {
    const { address, port, tls, logger } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, address, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    this.#server.on('error', (error) => logger.warn({ error: errorMessage(error) }, 'streaming server'));
    this.#base = `${tls === undefined ? 'http' : 'https'}://${authority(this.#server.address() as AddressInfo)}`;
  }

  /**
   * Creates an absolute URL that is valid once, for a minute. Throws `resource_exhausted` while a thousand URLs are waiting for their
   * clients.
   */
  url(request: StreamingRequest): string {
    return `${this.#base}/${request.kind}/${this.#tokens.insert(request)}`;
  }

  /**
   * Serves a client that another server in this process has accepted, so that no connection between the two servers is needed. Returns
   * false if the URL belongs to another server.
   */
  serve(client: UpgradingClient, url: string): boolean {
    if (!url.startsWith(`${this.#base}/`)) return false;
    this.#upgrade(client, url.slice(this.#base.length));
    return true;
  }

  /** Closes the server and all sessions. Resolves once their processes have been closed, or after 5 s. */
  async close(): Promise<void> {
    this.#tokens.clear();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    this.#waiting.close();
    this.#server.closeAllConnections();
    const bound = new AbortController();
    await Promise.race([Promise.all([closed, ...this.#sessions]), pause(CLOSE_TIMEOUT_MS, bound.signal)]);
    bound.abort();
  }

  #upgrade(client: UpgradingClient, target: string): void {
    const { request, socket } = client;
    if (socket.destroyed) return; // the client disconnected while its URL was being requested
    socket.on('error', () => socket.destroy());
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    const [, kind, token = ''] = target.split('?')[0]!.split('/');
    if (this.#sessions.size >= MAX_SESSIONS)
      return refuseUpgrade(socket, {
        status: '503 Service Unavailable',
        message: `${MAX_SESSIONS} sessions are already running`,
      });
    const waiting = this.#tokens.take(token);
    if (waiting === undefined || waiting.kind !== kind)
      return refuseUpgrade(socket, {
        status: '404 Not Found',
        message: 'this URL is unknown, already used or expired',
      });
    this.#waiting.admit(request.socket);
    const { countBuffer } = this.#options;
    const session = this.#serve(client, { ...waiting, countBuffer }).catch((error: unknown) => {
      this.#options.logger.info({ kind, error: errorMessage(error) }, 'streaming session ended early');
      socket.destroy();
    });
    this.#sessions.add(session);
    void session.then(() => this.#sessions.delete(session));
  }

  /** Serves a client. Each protocol's code is loaded when the first client uses it. */
  async #serve(client: UpgradingClient, waiting: ServedRequest): Promise<void> {
    const upgrade = client.request.headers.upgrade?.toLowerCase();
    if (upgrade === 'websocket') return (await import('./serve-websocket.ts')).serveWebSocket(client, waiting);
    if (upgrade === 'spdy/3.1') return (await import('./serve-spdy.ts')).serveSpdy(client, waiting);
    return refuseUpgrade(client.socket, { status: '400 Bad Request', message: 'upgrade to SPDY/3.1 or WebSocket' });
  }
}

/** Creates a server and starts listening. Errors name the address. */
export async function openStreamingServer(options: StreamingServerOptions): Promise<StreamingServer> {
  try {
    const server = new StreamingServer(options);
    await server.listen();
    return server;
  } catch (error) {
    throw wrapError(`serve streams on ${options.address} port ${options.port}`, error);
  }
}

const refusePlain: RequestListener = (_request, response) => {
  response.writeHead(404, { connection: 'close' }).end('upgrade to SPDY/3.1 or WebSocket on a URL of this server\n');
};

/** Returns the host and port for the server's URLs, replacing a wildcard address with the loopback address. */
function authority({ address, port }: AddressInfo): string {
  if (address === '0.0.0.0') return `127.0.0.1:${port}`;
  if (address === '::') return `[::1]:${port}`;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
