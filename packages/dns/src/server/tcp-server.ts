import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { wrapError } from '@podwright/base';
import type { Endpoint } from '../forward/resolvers.ts';
import { FrameReader, framed } from '../wire/tcp-frames.ts';
import {
  IDLE_MS,
  MAX_CONNECTIONS,
  MAX_CONNECTIONS_PER_CLIENT,
  MAX_PIPELINED,
  MAX_QUERY_BYTES,
  MAX_UNSENT_BYTES,
} from './limits.ts';
import type { Responder } from './responder.ts';
import type { Turns } from './turns.ts';

type TcpOptions = { responder: Pick<Responder, 'reply'>; turns: Turns };

/** A TCP server and its open connections. */
export class TcpServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #options: TcpOptions;
  readonly #connections = new Map<string, Set<Socket>>();

  /** Throws `failed_precondition` if the endpoint cannot be used. */
  static async listen({ address, port }: Endpoint, options: TcpOptions): Promise<TcpServer> {
    const server = new TcpServer(options);
    const listening = once(server.#server, 'listening');
    server.#server.listen({ host: address, port, exclusive: true, ipv6Only: true });
    try {
      await listening;
    } catch (error) {
      throw wrapError(`listen on TCP port ${port} of ${address} for DNS`, error, 'failed_precondition');
    }
    return server;
  }

  private constructor(options: TcpOptions) {
    this.#options = options;
    // a client may half-close the connection after its last question
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const sockets of this.#connections.values()) for (const socket of sockets) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const sockets = this.#connections.get(address) ?? new Set<Socket>();
    if (sockets.size >= MAX_CONNECTIONS_PER_CLIENT) return void socket.destroy();
    this.#connections.set(address, sockets.add(socket));
    socket.on('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) this.#connections.delete(address);
    });
    const { responder, turns } = this.#options;
    serveConnection(socket, {
      answer: (request) => responder.reply(request, { address, isTcp: true }),
      inTurn: (piece) => turns.add(address, piece),
    });
  }
}

type Connection = { answer: (request: Buffer) => ReturnType<Responder['reply']>; inTurn: (piece: () => void) => void };

/** Answers one question per turn. Reads more questions once those already read have been answered and the client is reading the replies. */
function serveConnection(socket: Socket, { answer, inTurn }: Connection): void {
  const requests: Buffer[] = [];
  let next = 0;
  let pending = 0;
  let hasTurn = false;
  let isEnded = false;
  const proceed = () => {
    if (socket.destroyed || hasTurn || pending >= MAX_PIPELINED || socket.writableNeedDrain) return;
    if (next < requests.length) {
      hasTurn = true;
      return inTurn(takeTurn);
    }
    socket.resume();
    if (pending === 0 && isEnded) socket.end();
  };
  const send = (reply: Buffer) => {
    if (socket.destroyed) return;
    socket.write(framed(reply));
    if (socket.writableLength > MAX_UNSENT_BYTES) socket.destroy();
  };
  const later = async (reply: Promise<Buffer>) => {
    pending++;
    send(await reply);
    pending--;
    proceed();
  };
  const takeTurn = () => {
    hasTurn = false;
    if (socket.destroyed) return;
    const reply = answer(requests[next++]!);
    if (next === requests.length) requests.length = next = 0;
    if (reply === undefined) return void socket.destroy();
    if (reply instanceof Promise) void later(reply);
    else send(reply);
    proceed();
  };
  const frames = new FrameReader({ maxBytes: MAX_QUERY_BYTES, onMessage: (request) => requests.push(request) });
  socket.on('error', () => socket.destroy());
  socket.on('drain', proceed);
  socket.on('data', (chunk: Buffer) => {
    try {
      frames.add(chunk);
    } catch {
      return void socket.destroy(); // a message that is too long
    }
    socket.pause();
    proceed();
  });
  socket.on('end', () => {
    isEnded = true;
    proceed();
  });
  socket.setTimeout(IDLE_MS, () => socket.destroy());
}
