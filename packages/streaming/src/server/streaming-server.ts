import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import { errorMessage, type Logger } from '@podwright/base';
import { type WebSocket, WebSocketServer } from 'ws';
import type { RemoteProcess, StreamChoice } from '../remote-process.ts';
import { type PortDialer, servePortForward } from './port-forward.ts';
import {
  chooseProtocol,
  headerValues,
  SPDY_COMMAND_PROTOCOLS,
  SPDY_PORT_FORWARD,
  TUNNELLED_PORT_FORWARD,
  WEBSOCKET_COMMAND_PROTOCOLS,
} from './protocols.ts';
import { runSession } from './session.ts';
import { acceptSpdyCommand } from './spdy-command.ts';
import { TokenCache } from './tokens.ts';
import { webSocketBytes, webSocketCommand } from './websocket-command.ts';

/** What waits behind a URL: a command to run or attach to, or ports to reach. `start` is called once, when the client came. */
export type StreamingRequest =
  | { kind: 'exec' | 'attach'; choice: StreamChoice; start: (signal: AbortSignal) => Promise<RemoteProcess> }
  | { kind: 'portforward'; dial: PortDialer };

export type StreamingServerOptions = { address: string; port: number; logger: Logger };

/** A WebSocket message larger than this ends its connection. */
const MAX_MESSAGE_BYTES = 32 << 20;

/**
 * Serves exec, attach and port-forward over SPDY/3.1 and WebSocket on URLs that hold a token for one use within a
 * minute. It authenticates nobody beyond that, so it belongs on loopback.
 */
export class StreamingServer {
  readonly #tokens = new TokenCache<StreamingRequest>();
  readonly #server: Server;
  readonly #webSockets: WebSocketServer;
  readonly #sockets = new Set<Duplex>();
  readonly #options: StreamingServerOptions;
  #base = '';

  constructor(options: StreamingServerOptions) {
    this.#options = options;
    this.#server = createServer((_request, response) =>
      response.writeHead(404).end('upgrade to SPDY/3.1 or WebSocket on a URL of this server\n'),
    );
    this.#server.headersTimeout = 10_000;
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, { socket, head }));
    this.#webSockets = new WebSocketServer({
      noServer: true,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      handleProtocols: (offered) =>
        chooseProtocol([...offered], [...WEBSOCKET_COMMAND_PROTOCOLS, TUNNELLED_PORT_FORWARD]) ?? false,
    });
  }

  async listen(): Promise<void> {
    const { address, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, address, resolve);
    });
    const bound = this.#server.address() as AddressInfo;
    this.#base = `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
  }

  /** An absolute URL that can be used once, within a minute. */
  url(request: StreamingRequest): string {
    return `${this.#base}/${request.kind}/${this.#tokens.insert(request)}`;
  }

  /** Ends the server and every session. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#webSockets.close();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #upgrade(request: IncomingMessage, client: { socket: Duplex; head: Buffer }): void {
    const { socket } = client;
    socket.on('error', () => socket.destroy());
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    const [, kind, token = ''] = (request.url ?? '').split('?')[0]!.split('/');
    const waiting = this.#tokens.take(token);
    if (waiting === undefined || waiting.kind !== kind)
      return refuse(socket, '404 Not Found', 'this URL is unknown, used up or expired');
    this.#serve(request, { ...client, waiting }).catch((error: unknown) => {
      this.#options.logger.info({ kind, error: errorMessage(error) }, 'streaming session ended early');
      socket.destroy();
    });
  }

  async #serve(
    request: IncomingMessage,
    client: { socket: Duplex; head: Buffer; waiting: StreamingRequest },
  ): Promise<void> {
    const upgrade = request.headers.upgrade?.toLowerCase();
    if (upgrade === 'websocket') {
      const webSocket = await new Promise<WebSocket>((resolve) =>
        this.#webSockets.handleUpgrade(request, client.socket, client.head, resolve),
      );
      return serveWebSocket(webSocket, client.waiting);
    }
    if (upgrade !== 'spdy/3.1') return refuse(client.socket, '400 Bad Request', 'upgrade to SPDY/3.1 or WebSocket');
    return serveSpdy(request, client);
  }
}

async function serveSpdy(
  request: IncomingMessage,
  client: { socket: Duplex; head: Buffer; waiting: StreamingRequest },
): Promise<void> {
  const { socket, head, waiting } = client;
  const offered = headerValues(request.headers['x-stream-protocol-version']);
  const spoken = waiting.kind === 'portforward' ? [SPDY_PORT_FORWARD] : SPDY_COMMAND_PROTOCOLS;
  const protocol = offered.length === 0 ? spoken.at(-1)! : chooseProtocol(offered, spoken);
  if (protocol === undefined)
    return refuse(socket, '403 Forbidden', `none of ${offered.join(', ')} is spoken; choose from ${spoken.join(', ')}`);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
  );
  if (waiting.kind === 'portforward') return servePortForward(socket, { dial: waiting.dial, head });
  const { streams, connection } = await acceptSpdyCommand(socket, { choice: waiting.choice, protocol, head });
  await serveCommand(waiting, streams);
  connection.close();
}

async function serveWebSocket(socket: WebSocket, waiting: StreamingRequest): Promise<void> {
  if (waiting.kind === 'portforward') {
    const { input, output } = webSocketBytes(socket);
    const transport = Duplex.from({ readable: input, writable: output });
    return servePortForward(transport, { dial: waiting.dial, head: Buffer.alloc(0) });
  }
  const streams = webSocketCommand(socket, waiting.choice);
  await serveCommand(waiting, streams);
  if (!streams.error.writableFinished && socket.readyState === socket.OPEN)
    await new Promise((resolve) => streams.error.once('close', resolve));
  socket.close(1000);
}

/** Runs the command to its end; its process is told as soon as the client has gone. */
async function serveCommand(
  waiting: Extract<StreamingRequest, { start: unknown }>,
  streams: Parameters<typeof runSession>[1],
): Promise<void> {
  const gone = new AbortController();
  void streams.gone.then(() => gone.abort());
  await runSession(() => waiting.start(gone.signal), streams);
}

function refuse(socket: Duplex, status: string, words: string): void {
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(words)}\r\n\r\n${words}`,
  );
}
