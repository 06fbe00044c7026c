import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Timer } from '@podwright/base';
import { MAX_IDLE_MS, MAX_UNAUTHENTICATED_MS } from './listener-bounds.ts';

/**
 * Property of a socket that holds the function to call once a user has authenticated. A property is needed because a node:http2 session
 * exposes a proxy of its socket, which has the same properties but is a different object.
 */
const STOP_WAITING = Symbol('stop waiting for authentication');

type AwaitedSocket = TLSSocket & { [STOP_WAITING]?: () => void };

/** Must be called when a user has authenticated on this connection. `socket` may also be a proxy of the connection's socket. */
export const markAuthenticated = (socket: TLSSocket): void => (socket as AwaitedSocket)[STOP_WAITING]?.();

/** Tracks a server's connections. Closes connections that are idle, or on which no user has authenticated in time. */
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

  /** Closes an HTTP/2 connection after it has had no streams for some time. */
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

  /** Sends GOAWAY to HTTP/2 clients, so that they open new connections. In-flight requests continue. */
  retire(): void {
    for (const session of this.#sessions) session.close();
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
