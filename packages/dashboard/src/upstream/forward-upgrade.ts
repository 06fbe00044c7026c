import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { gatherBytes, PodwrightError } from '@podwright/base';
import { joinConnections } from '@podwright/streaming';
import { offeredProtocols } from '../access/credentials.ts';
import type { ApiServer } from './api-server.ts';
import { USER_AGENT } from './forwarded-headers.ts';
import { statusMessage } from './json-calls.ts';
import { sendUpstream } from './send.ts';

/** The WebSocket subprotocols of exec and attach that can be forwarded. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
/** Matches a `Sec-WebSocket-Accept` value: a SHA-1 digest in Base64 (RFC 6455, section 4.2.2). */
const ACCEPT = /^[\w+/]{27}=$/;
const MAX_STATUS_BYTES = 64 << 10;

/**
 * Forwards an exec or attach WebSocket by joining the two connections. The caller must have checked the path with `forwardingProblem`. It
 * must also respond to the page if this function rejects: with `permission_denied` if the API server refuses, with `unavailable` if it
 * cannot be reached. Only handshake headers are forwarded, in both directions.
 */
export async function forwardUpgrade(
  api: ApiServer,
  { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
  signal: AbortSignal,
): Promise<void> {
  const call = { method: 'GET', target: request.url ?? '', headers: handshakeOf(request), dedicated: true };
  const answer = await sendUpstream(api, call, signal);
  if (answer.type === 'response') throw await upgradeRefusal(answer.response);
  const { response, socket: upstream, head: upstreamHead } = answer;
  const protocol = response.headers['sec-websocket-protocol'] ?? '';
  const accept = response.headers['sec-websocket-accept'] ?? '';
  if (!PROTOCOLS.includes(protocol) || !ACCEPT.test(accept)) {
    upstream.destroy();
    throw new PodwrightError('unavailable', `the API server selected none of the subprotocols ${PROTOCOLS.join(', ')}`);
  }
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  lines.push(`Sec-WebSocket-Accept: ${accept}`, `Sec-WebSocket-Protocol: ${protocol}`);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (upstreamHead.length > 0) socket.write(upstreamHead);
  if (head.length > 0) upstream.write(head);
  const stop = () => {
    upstream.destroy();
    socket.destroy();
  };
  signal.addEventListener('abort', stop, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', stop));
  joinConnections(socket, upstream);
}

/**
 * Returns the handshake headers. Throws `invalid_argument` if this is not a WebSocket handshake, or if it does not offer a supported
 * subprotocol.
 */
function handshakeOf(request: IncomingMessage): Record<string, string> {
  const { headers } = request;
  const key = headers['sec-websocket-key'];
  if (headers.upgrade?.toLowerCase() !== 'websocket' || key === undefined || !/^[\w+/]{22}==$/.test(key))
    throw new PodwrightError('invalid_argument', 'the request is not the handshake of a WebSocket');
  const protocols = offeredProtocols(request).filter((protocol) => PROTOCOLS.includes(protocol));
  if (protocols.length === 0)
    throw new PodwrightError(
      'invalid_argument',
      `the WebSocket must offer one of the subprotocols ${PROTOCOLS.join(', ')}`,
    );
  return {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
    'sec-websocket-protocol': protocols.join(', '),
    'user-agent': USER_AGENT,
  };
}

async function upgradeRefusal(response: IncomingMessage): Promise<PodwrightError> {
  const tooLong = () =>
    new PodwrightError('resource_exhausted', `the answer has more than ${MAX_STATUS_BYTES >> 10} KiB`);
  const text = await gatherBytes(response, MAX_STATUS_BYTES, tooLong).then(String, () => '');
  return new PodwrightError(
    'permission_denied',
    `the API server answered ${response.statusCode}: ${statusMessage(text) ?? ''}`,
  );
}
