import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError } from '@podwright/api-machinery';
import { withTimeout } from '@podwright/base';
import type { HttpExchange } from '../wire/http-exchange.ts';
import type { Backend } from './backend.ts';
import { answerTo, type BackendAnswer, passResponse } from './backend-response.ts';
import { dialError } from './dial-error.ts';
import { responseHeaders, upgradeHeaders } from './forwarded-headers.ts';

/** Maximum time to wait for a backend's response. It is long because a kubelet calls its container runtime before responding. */
const MAX_ANSWER_MS = 60_000;

/** How long the joined connections to client and backend may be idle. Same as the kubelet's default. */
const MAX_IDLE_MS = 4 * 3_600_000;

export type ForwardedUpgrade = {
  backend: Backend;
  /** Path and query for the request to the backend, percent-encoded. */
  path: string;
  /** Headers for the backend, which are added to the client's or replace them. Names are in lowercase. */
  headers?: OutgoingHttpHeaders;
};

/**
 * Forwards a protocol upgrade request (e.g. SPDY/3.1 or WebSocket) and pipes bytes between the two connections, with backpressure, until
 * both have ended. A response that rejects the upgrade is passed to the client. Throws 500 if there is no response.
 */
export async function forwardUpgrade(exchange: HttpExchange, forwarded: ForwardedUpgrade): Promise<void> {
  const { answerHead, joinConnections } = await import('@podwright/streaming');
  const { response, upgraded } = await requestUpgrade(exchange, forwarded);
  if (upgraded === undefined) return passRefusal(exchange, response);
  if (exchange.signal.aborted) return void upgraded.socket.destroy();
  const client = exchange.upgrade!();
  client.socket.on('error', () => client.socket.destroy());
  client.socket.write(answerHead(response));
  if (upgraded.head.length > 0) client.socket.write(upgraded.head);
  if (client.head.length > 0) upgraded.socket.write(client.head);
  boundIdleness(client.socket as Socket);
  joinConnections(client.socket, upgraded.socket);
  await ended([client.socket, upgraded.socket], exchange.signal);
}

async function passRefusal(exchange: HttpExchange, response: IncomingMessage): Promise<void> {
  if (response.statusCode! >= 400) return passResponse(exchange, response, responseHeaders(response));
  response.destroy();
  throw failed(`invalid upgrade response: status code ${response.statusCode}`);
}

async function requestUpgrade(
  exchange: HttpExchange,
  { backend, path, headers }: ForwardedUpgrade,
): Promise<BackendAnswer> {
  const { request } = exchange;
  const { method = 'GET' } = request;
  using signal = withTimeout(exchange.signal, MAX_ANSWER_MS, 'wait for the answer of the backend');
  const outgoing = backend.request({ method, path, headers: { ...upgradeHeaders(request), ...headers } });
  outgoing.end();
  return answerTo(outgoing, signal).catch((error: unknown) => {
    if (exchange.signal.reason instanceof ApiError) throw exchange.signal.reason;
    throw failed(`error dialing backend: ${dialError(error, backend.authority)}`);
  });
}

/** Returns the error for a failed upgrade. As in upstream, its Status has no reason. */
const failed = (message: string): ApiError => new ApiError(500, '', { message });

function boundIdleness(socket: Socket): void {
  socket.setTimeout?.(MAX_IDLE_MS, () => socket.destroy());
}

/**
 * Waits until both connections are closed. Closes them on server shutdown; after a client disconnect, its remaining data is still
 * delivered.
 */
async function ended(sides: readonly Duplex[], signal: AbortSignal): Promise<void> {
  const abort = () => {
    if (signal.reason instanceof ApiError) for (const side of sides) side.destroy();
  };
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  await Promise.all(sides.map((side) => side.closed || new Promise((resolve) => void side.once('close', resolve))));
  signal.removeEventListener('abort', abort);
}
