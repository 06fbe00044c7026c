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

/** How long a backend may take to answer. A kubelet first calls its container runtime. */
const MAX_ANSWER_MS = 60_000;

/** A joined connection without traffic is closed after this time, which is the kubelet's default. */
const MAX_IDLE_MS = 4 * 3_600_000;

export type ForwardedUpgrade = {
  backend: Backend;
  /** The encoded path for the backend, with the query. */
  path: string;
  /** Headers to add to those of the client, or to replace them. Names are in lower case. */
  headers?: OutgoingHttpHeaders;
};

/**
 * Forwards a request to upgrade the protocol, such as SPDY/3.1 or WebSocket, and joins the two connections byte by byte until both have
 * ended. Neither side is read faster than the other one takes the data. An answer that refuses the upgrade is passed to the client. Throws
 * 500 if there is no answer.
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

/** As in upstream, these errors have no reason. */
const failed = (message: string): ApiError => new ApiError(500, '', { message });

function boundIdleness(socket: Socket): void {
  socket.setTimeout?.(MAX_IDLE_MS, () => socket.destroy());
}

/** Waits until both connections are closed. Closes them if the server stops; a client that disconnects has its data delivered before. */
async function ended(sides: readonly Duplex[], signal: AbortSignal): Promise<void> {
  const abort = () => {
    if (signal.reason instanceof ApiError) for (const side of sides) side.destroy();
  };
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  await Promise.all(sides.map((side) => side.closed || new Promise((resolve) => void side.once('close', resolve))));
  signal.removeEventListener('abort', abort);
}
