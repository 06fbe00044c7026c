import type { IncomingMessage } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { PodwrightError } from '@podwright/base';
import { type WebSocket, WebSocketServer } from 'ws';
import { offeredProtocols } from '../access/credentials.ts';
import { HIGH_WATER_BYTES } from '../limits.ts';
import { statusOf } from '../status-answer.ts';
import type { ApiServer } from './api-server.ts';
import { dataType, USER_AGENT } from './forwarded-headers.ts';
import { forwardingProblem } from './forwarded-path.ts';
import { sendUpstream } from './send.ts';

const PROTOCOL = 'podwright.stream.v1';
const NORMAL_CLOSURE = 1000;
/** Internal error (RFC 6455, section 7.4.1): the connection to the API server was lost. */
const INTERNAL_ERROR = 1011;

/**
 * Sends a response of the API server, usually a watch or followed log, over a WebSocket, because browsers only open six HTTP/1.1
 * connections per host. The messages are described in README.md. Rejects if the request is invalid. Later errors are sent to the page.
 */
export async function serveStream(
  api: ApiServer,
  client: { request: IncomingMessage; socket: Duplex; head: Buffer },
  signal: AbortSignal,
): Promise<void> {
  const query = URL.parse(client.request.url ?? '', 'http://localhost')?.searchParams;
  const target = query?.get('path') ?? '';
  const problem = forwardingProblem({ method: 'GET', target, stream: false });
  if (problem !== undefined) throw new PodwrightError('permission_denied', problem);
  const socket = acceptWebSocket(client);
  const closed = new AbortController();
  socket.on('close', () => closed.abort());
  socket.on('error', () => socket.terminate());
  signal.addEventListener('abort', () => socket.terminate(), { once: true });
  const headers = { accept: query?.get('accept') ?? 'application/json', 'user-agent': USER_AGENT };
  let hasStatus = false;
  try {
    const call = { method: 'GET', target, headers, dedicated: true };
    const answer = await sendUpstream(api, call, closed.signal);
    if (answer.type === 'upgrade') {
      answer.socket.destroy();
      throw new PodwrightError('unavailable', 'the API server upgraded the connection without a request for it');
    }
    hasStatus = true;
    await sendAnswer(socket, answer.response);
  } catch (error) {
    if (closed.signal.aborted) return;
    if (!hasStatus) sendFailure(socket, error);
    socket.close(INTERNAL_ERROR);
  }
}

function acceptWebSocket({ request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer }) {
  if (!offeredProtocols(request).includes(PROTOCOL))
    throw new PodwrightError('invalid_argument', `the WebSocket must offer the subprotocol ${PROTOCOL}`);
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: 1 << 10, // pages send no messages
    perMessageDeflate: false,
    clientTracking: false,
    handleProtocols: () => PROTOCOL,
  });
  let accepted: WebSocket | undefined;
  server.handleUpgrade(request, socket, head, (webSocket) => {
    accepted = webSocket;
  });
  if (accepted === undefined) throw new PodwrightError('cancelled', 'the handshake of the WebSocket failed');
  return accepted;
}

/** Sends the status and body of a response, with backpressure from the browser. */
async function sendAnswer(socket: WebSocket, response: IncomingMessage): Promise<void> {
  socket.send(JSON.stringify({ status: response.statusCode, contentType: dataType(response.headers['content-type']) }));
  for await (const chunk of response as Readable as AsyncIterable<Buffer>) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.send(chunk, { binary: true }, (error) => (error == null ? resolve() : reject(error)));
    if (socket.bufferedAmount > HIGH_WATER_BYTES) await promise;
    else promise.catch(() => response.destroy());
  }
  if (!response.complete) throw new PodwrightError('unavailable', 'the connection to the API server was lost');
  socket.close(NORMAL_CLOSURE);
}

/** Sends an error like an API server would: its status code, followed by the Status object. */
function sendFailure(socket: WebSocket, error: unknown): void {
  const status = statusOf(error);
  socket.send(JSON.stringify({ status: status.code, contentType: 'application/json' }));
  socket.send(Buffer.from(JSON.stringify(status)), { binary: true });
}
