import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { HttpListener } from './http/http-listener.ts';
import { MAX_WAITING_HEAD_BYTES, MAX_WAITING_REQUESTS, STALLED_CLIENT_MS, UPGRADE_PATIENCE_MS } from './limits.ts';

/** What a connection has asked for. */
type Connection = {
  /** Requests whose answers are not out. */
  unanswered: number;
  /** Of their heads those that are not begun. */
  waitingBytes: number;
  /** What takes the connection over once all answers are out. */
  upgrade?: () => void;
};

/**
 * Begins a request once the answers to the earlier ones of its connection are out, as Go's server does. Node.js begins all that a client
 * sends at once, and lets an upgrade overtake them. A client that sends on meanwhile beyond a bound is disconnected, as is one whose
 * upgrade waits for long.
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
      // nobody reads it meanwhile, nor hears when the client leaves
      const timer = setTimeout(() => socket.destroy(), UPGRADE_PATIENCE_MS).unref();
      connection.upgrade = () => {
        clearTimeout(timer);
        if (!socket.destroyed) listener.upgrade(request, socket, head);
      };
    },
  };
}

type Waiting = { request: IncomingMessage; response: ServerResponse; listener: HttpListener };

/** A response gets its socket when those before it are finished. */
function waitForTurn(connection: Connection, { request, response, listener }: Waiting): void {
  const bytes = headBytes(request);
  connection.waitingBytes += bytes;
  if (connection.unanswered > MAX_WAITING_REQUESTS || connection.waitingBytes > MAX_WAITING_HEAD_BYTES)
    return void request.socket.destroy();
  response.once('socket', () => {
    connection.waitingBytes -= bytes;
    if (request.socket.destroyed) return;
    request.socket.setTimeout(STALLED_CLIENT_MS); // the answer before it may have lifted it
    listener.handle(request, response);
  });
}

function headBytes({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length);
}
