import { once } from 'node:events';
import { createServer, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorMessage, type Logger, wrapError } from '@podwright/base';
import type { HttpListener } from './http/http-listener.ts';
import { MAX_CONNECTIONS } from './http/limits.ts';
import {
  KEEP_ALIVE_PROBE_MS,
  KEEP_ALIVE_TIMEOUT_MS,
  LISTEN_BACKLOG,
  MAX_REQUEST_HEAD_BYTES,
  REQUEST_HEAD_TIMEOUT_MS,
  STALLED_CLIENT_MS,
} from './limits.ts';
import { oneAtATime } from './one-at-a-time.ts';

/** Limits and timeouts for clients that connect through a TCP port. */
export const HTTP_LIMITS: ServerOptions = {
  maxHeaderSize: MAX_REQUEST_HEAD_BYTES,
  headersTimeout: REQUEST_HEAD_TIMEOUT_MS,
  requestTimeout: REQUEST_HEAD_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  connectionsCheckingInterval: 1000,
  noDelay: true,
  // detects that a client's host is down; otherwise its streams and log followers would stay open for hours
  keepAlive: true,
  keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
};

/** Creates an HTTP server without TLS. */
export function plainServer(listener: HttpListener): Server {
  const server = createServer({ ...HTTP_LIMITS, shouldUpgradeCallback: (request) => listener.upgrades(request) });
  return withListener(server, listener);
}

/** Attaches a listener to a server. Requests on a connection are handled one at a time, and the number of connections is limited. */
export function withListener(server: Server, listener: HttpListener): Server {
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(STALLED_CLIENT_MS);
  const inTurn = oneAtATime(listener);
  server.on('request', (request, response) => inTurn.handle(request, response));
  server.on('upgrade', (request, socket, head) => inTurn.upgrade(request, socket, head));
  return server;
}

export type ListenAddress = { host: string; port: number };

/** Starts listening. If that fails, throws an error that names the address. */
export async function listenOn(server: Server, { host, port }: ListenAddress, logger: Logger): Promise<AddressInfo> {
  try {
    server.listen(port, host, LISTEN_BACKLOG);
    await once(server, 'listening'); // rejects with the server's error
  } catch (error) {
    throw wrapError(`serve the kubelet's API on ${host} port ${port}`, error);
  }
  server.on('error', (error) => logger.warn({ error: errorMessage(error) }, 'error of the API server'));
  const address = server.address() as AddressInfo;
  logger.info({ address: address.address, port: address.port }, 'serving the API');
  return address;
}

/** Closes a server and all of its connections. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
