import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Timer } from '@podwright/base';
import { MAX_IDLE_MS, MAX_UNAUTHENTICATED_MS } from './listener-bounds.ts';

/** A session of node:http2 has a proxy of its socket, which has the socket's properties, but is another object. */
const STOP_WAITING = Symbol('stop waiting for authentication');

type AwaitedSocket = TLSSocket & { [STOP_WAITING]?: () => void };

/** A user has authenticated on the connection of this socket, or of a proxy for it. */
export const markAuthenticated = (socket: TLSSocket): void => (socket as AwaitedSocket)[STOP_WAITING]?.();

/** The connections of a server. Closes those that are idle, or on which no user has authenticated. */
export class OpenConnections {
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #maxUnauthenticatedMs: number;

  constructor(maxUnauthenticatedMs = MAX_UNAUTHENTICATED_MS) {
    this.#maxUnauthenticatedMs = maxUnauthenticatedMs;
  }

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined); // the client has disconnected
  }

  /** Closes the connection unless `markAuthenticated` is called in time. */
  awaitAuthentication(socket: TLSSocket): void {
    const timer = new Timer(() => socket.destroy(), this.#maxUnauthenticatedMs).unref();
    const stop = () => timer[Symbol.dispose]();
    (socket as AwaitedSocket)[STOP_WAITING] = stop;
    socket.once('close', stop);
  }

  /** Closes an HTTP/2 connection that has had no streams for some time. */
  addSession(session: ServerHttp2Session): void {
    let streams = 0;
    this.#sessions.add(session);
    const idle = new Timer(() => streams === 0 && session.close(), MAX_IDLE_MS).unref();
    session.on('stream', (stream) => {
      streams += 1;
      stream.once('close', () => {
        streams -= 1;
        idle.refresh();
      });
    });
    session.on('error', () => undefined); // the session closes its socket itself
    session.once('close', () => {
      idle[Symbol.dispose]();
      this.#sessions.delete(session);
    });
  }

  /** Sends GOAWAY to HTTP/2 clients, so that they open new connections. Requests in flight continue. */
  retire(): void {
    for (const session of this.#sessions) session.close();
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
