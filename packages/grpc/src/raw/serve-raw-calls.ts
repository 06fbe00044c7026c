import type { Duplex } from 'node:stream';
import { type ByteBudget, errorMessage, type Logger } from '@podwright/base';
import { DEFAULT_CLOSE_GRACE_MS } from '../limits.ts';
import { Listeners } from '../server/listeners.ts';
import type { ListeningServer } from '../server/serve-services.ts';
import { ServerSession } from '../server/session.ts';
import { RawCall } from './raw-call.ts';

/** Handles the calls of one connection. */
export type RawCallHandler = {
  /** Called for each gRPC call on the connection. Must not throw. */
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
  /** Bounds the total memory of the requests of all calls. */
  requests: ByteBudget;
};

/** A client's connection. `cut` closes it immediately, which ends its calls. */
export type RawClient = { cut(): void };

/**
 * Listens on a socket and passes every gRPC call, whatever its service, to the handler that `connected` returned for its connection. For
 * proxies. Throws `already_exists` if a running process is listening on the socket. A stale socket is replaced.
 */
export async function serveRawCalls(
  { requests, ...options }: ServeRawOptions,
  connected: (client: RawClient) => RawCallHandler,
): Promise<ListeningServer> {
  const sessions = new Set<ServerSession>();
  const accept = (connection: Duplex) => {
    const handler = connected({ cut: () => session.destroy() });
    const session: ServerSession = new ServerSession(connection, {
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
  const listeners = await Listeners.open(options, { accept });
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
