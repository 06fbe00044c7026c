import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
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

/** A server with its open connections. */
export class TcpServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #responder: Responder;
  readonly #connections = new Map<string, Set<Socket>>();

  /** Throws `failed_precondition` if the endpoint cannot be used. */
  static async listen({ address, port }: Endpoint, responder: Responder): Promise<TcpServer> {
    const server = new TcpServer(responder);
    const listening = once(server.#server, 'listening');
    server.#server.listen({ host: address, port, exclusive: true, ipv6Only: true });
    try {
      await listening;
    } catch (error) {
      throw wrapError(`listen on TCP port ${port} of ${address} for DNS`, error, 'failed_precondition');
    }
    return server;
  }

  private constructor(responder: Responder) {
    this.#responder = responder;
    // a client may end its side after its last question
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
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
    serveConnection(socket, (request) => this.#responder.reply(request, { address, isTcp: true }));
  }
}

function serveConnection(socket: Socket, answer: (request: Buffer) => ReturnType<Responder['reply']>): void {
  let pending = 0;
  let isEnded = false;
  const send = (reply: Buffer) => {
    if (socket.destroyed) return;
    socket.write(framed(reply));
    if (socket.writableLength > MAX_UNSENT_BYTES) socket.destroy();
  };
  const later = async (reply: Promise<Buffer>) => {
    if (++pending >= MAX_PIPELINED) socket.pause();
    send(await reply);
    if (--pending < MAX_PIPELINED) socket.resume();
    if (pending === 0 && isEnded) socket.end();
  };
  const onMessage = (request: Buffer) => {
    const reply = answer(request);
    if (reply === undefined) socket.destroy();
    else if (reply instanceof Promise) void later(reply);
    else send(reply);
  };
  const frames = new FrameReader({ maxBytes: MAX_QUERY_BYTES, onMessage });
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    try {
      frames.add(chunk);
    } catch {
      socket.destroy(); // a message that is too long
    }
  });
  socket.on('end', () => {
    isEnded = true;
    if (pending === 0) socket.end();
  });
  socket.setTimeout(IDLE_MS, () => socket.destroy());
}
