import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { HttpListener } from './http/http-listener.ts';
import { MAX_WAITING_HEAD_BYTES, MAX_WAITING_REQUESTS, STALLED_CLIENT_MS, UPGRADE_PATIENCE_MS } from './limits.ts';

/** The unfinished requests on a connection. */
type Connection = {
  /** Number of requests whose responses have not finished. */
  unanswered: number;
  /** Total header size of the requests that have not been started. */
  waitingBytes: number;
  /** Upgrades the connection. Called once all responses have finished. */
  upgrade?: () => void;
};

/**
 * Starts a request only once the responses to earlier requests on its connection have finished, like Go's server. Node.js starts all
 * pipelined requests immediately and lets an upgrade overtake them. A client is disconnected if it pipelines too many requests or if its
 * upgrade has waited too long.
 */
export function oneAtATime(listener: HttpListener): Pick<HttpListener, 'handle' | 'upgrade'> {
  const connections = new WeakMap<Duplex, Connection>();
  const connectionOf = (socket: Duplex) => {
    const known = connections.get(socket) ?? { unanswered: 0, waitingBytes: 0 };
    connections.set(socket, known);
    return known;
  };
  return {
    handle: (request, response) => {
      const connection = connectionOf(request.socket);
      connection.unanswered++;
      response.once('close', () => {
        if (--connection.unanswered === 0) connection.upgrade?.();
      });
      if (response.socket === null) waitForTurn(connection, { request, response, listener });
      else listener.handle(request, response);
    },
    upgrade: (request, socket, head) => {
      const connection = connectionOf(socket);
      if (connection.unanswered === 0) return listener.upgrade(request, socket, head);
      socket.on('error', () => socket.destroy());
      // limit the wait: the socket is not read while the upgrade waits, so a client that disconnects would go unnoticed
      const timer = setTimeout(() => socket.destroy(), UPGRADE_PATIENCE_MS).unref();
      connection.upgrade = () => {
        clearTimeout(timer);
        if (!socket.destroyed) listener.upgrade(request, socket, head);
      };
    },
  };
}

type Waiting = { request: IncomingMessage; response: ServerResponse; listener: HttpListener };

/** Handles a request once Node.js assigns the socket to its response, which happens after the previous response has ended. */
function waitForTurn(connection: Connection, { request, response, listener }: Waiting): void {
  const bytes = headBytes(request);
  connection.waitingBytes += bytes;
  if (connection.unanswered > MAX_WAITING_REQUESTS || connection.waitingBytes > MAX_WAITING_HEAD_BYTES)
    return void request.socket.destroy();
  response.once('socket', () => {
    connection.waitingBytes -= bytes;
    if (request.socket.destroyed) return;
    request.socket.setTimeout(STALLED_CLIENT_MS); // the handler of the previous request may have disabled the timeout
    listener.handle(request, response);
  });
}

function headBytes({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length);
}
