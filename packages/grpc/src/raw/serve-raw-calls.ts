import type { ServerHttp2Session } from 'node:http2';
import type { Duplex } from 'node:stream';
import { type ByteBudget, errorMessage, type Logger } from '@podwright/base';
import { DEFAULT_CLOSE_GRACE_MS } from '../limits.ts';
import { Listeners } from '../server/listeners.ts';
import { NodeSession } from '../server/node-session.ts';
import type { ListeningServer } from '../server/serve-services.ts';
import { ServerSession, type SessionListener } from '../server/session.ts';
import { RawCall } from './raw-call.ts';

/** Handles the calls of one connection. */
export type RawCallHandler = {
  /** Must not throw. */
  onCall(call: RawCall): void;
  /** Called when the connection has ended. */
  onClose(): void;
};

export type ServeRawOptions = {
  /** Path of the Unix socket. */
  socket: string;
  /** Permissions of the socket. Default: 0600. */
  mode?: number;
  logger: Logger;
  /** Bounds the memory of the requests of all calls. */
  requests: ByteBudget;
};

/**
 * Listens on a socket and passes every gRPC call, of whatever service, to the handler that `connected` returns for its connection. For
 * proxies. Throws `already_exists` if a running process is listening on the socket. A stale socket is replaced.
 */
export async function serveRawCalls(
  { requests, ...options }: ServeRawOptions,
  connected: () => RawCallHandler,
): Promise<ListeningServer> {
  const sessions = new Set<ServerSession | NodeSession>();
  const add = (open: (listener: SessionListener) => ServerSession | NodeSession) => {
    const handler = connected();
    const session = open({
      onRequest: (stream, fields) => handler.onCall(new RawCall(stream, fields, requests)),
      onClose: (error) => {
        sessions.delete(session);
        handler.onClose();
        if (error !== undefined)
          options.logger.warn({ error: errorMessage(error) }, 'disconnected a client that violated the protocol');
      },
    });
    sessions.add(session);
  };
  const listeners = await Listeners.open(options, {
    accept: (connection: Duplex) => add((listener) => new ServerSession(connection, listener)),
    acceptSession: (session: ServerHttp2Session) => add((listener) => new NodeSession(session, listener)),
  });
  const close = async (graceMs: number) => {
    await listeners.stop();
    for (const session of sessions) session.retire();
    await listeners.drained(graceMs);
    listeners.destroyConnections();
  };
  let closing: Promise<void> | undefined;
  return {
    endpoint: listeners.endpoint,
    tcpPort: undefined,
    close: (graceMs = DEFAULT_CLOSE_GRACE_MS) => (closing ??= close(graceMs)),
  };
}
