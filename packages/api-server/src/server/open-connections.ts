import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { Timer } from '@podwright/base';
import { MAX_IDLE_MS } from './listener-bounds.ts';

/** Tracks a server's connections and closes idle ones. */
export class OpenConnections {
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined); // the client has disconnected
  }

  /** Closes an HTTP/2 connection once it has been idle for some time. */
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
