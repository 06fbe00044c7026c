import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { servePortForward } from './port-forward.ts';
import {
  CHANNEL_PORT_FORWARD_PROTOCOLS,
  chooseProtocol,
  headerValues,
  TUNNELLED_PORT_FORWARD,
  WEBSOCKET_COMMAND_PROTOCOLS,
} from './protocols.ts';
import type { UpgradingClient } from './serve-spdy.ts';
import { runSession } from './session.ts';
import type { StreamingRequest } from './streaming-request.ts';
import { refuseUpgrade } from './upgrade-answers.ts';
import { answerPings, WebSocketChannels } from './websocket-channels.ts';
import { webSocketCommand } from './websocket-command.ts';
import { forwardPortChannels } from './websocket-port-forward.ts';

/** A message larger than this ends its connection; Kubernetes' servers have the same bound. */
const MAX_MESSAGE_BYTES = 32 << 20;

/** Serves what waited for the client over a WebSocket, until both are done. */
export async function serveWebSocket(client: UpgradingClient, waiting: StreamingRequest): Promise<void> {
  const accepted = acceptWebSocket(client, protocolsFor(waiting));
  if (accepted !== undefined) await serve(accepted.socket, { protocol: accepted.protocol, waiting });
}

/** Makes the connection a WebSocket with the first of the client's protocols that is `spoken`. Nothing if it had to be refused. */
export function acceptWebSocket(
  client: UpgradingClient,
  spoken: string[],
): { socket: WebSocket; protocol: string } | undefined {
  const offered = headerValues(client.request.headers['sec-websocket-protocol']);
  const protocol = chooseProtocol(offered.length === 0 ? [''] : offered, spoken);
  if (protocol === undefined) {
    const message = `unable to upgrade: the client speaks ${offered.join(', ') || 'no protocol'}, the server ${spoken.join(', ')}`;
    refuseUpgrade(client.socket, { status: '403 Forbidden', message });
    return undefined;
  }
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    autoPong: false, // answered within a bound
    clientTracking: false,
  });
  // The library refuses the name of the tunnel, whose slash is no character of a token: so it sees no names at all.
  delete client.request.headers['sec-websocket-protocol'];
  if (protocol !== '') server.on('headers', (headers) => headers.push(`Sec-WebSocket-Protocol: ${protocol}`));
  // A handshake that fails is answered by the library, and nothing follows it.
  let accepted: { socket: WebSocket; protocol: string } | undefined;
  server.handleUpgrade(client.request, client.socket, client.head, (socket) => {
    accepted = { socket, protocol };
  });
  return accepted;
}

function protocolsFor(waiting: StreamingRequest): string[] {
  if (waiting.kind !== 'portforward') return WEBSOCKET_COMMAND_PROTOCOLS;
  return [TUNNELLED_PORT_FORWARD, ...(waiting.ports === undefined ? [] : CHANNEL_PORT_FORWARD_PROTOCOLS)];
}

async function serve(
  socket: WebSocket,
  { protocol, waiting }: { protocol: string; waiting: StreamingRequest },
): Promise<void> {
  if (waiting.kind === 'portforward' && protocol === TUNNELLED_PORT_FORWARD) {
    answerPings(socket);
    return servePortForward(createWebSocketStream(socket), { dial: waiting.dial, head: Buffer.alloc(0) });
  }
  const channels = new WebSocketChannels(socket, protocol);
  try {
    if (waiting.kind === 'portforward')
      await forwardPortChannels(channels, { dial: waiting.dial, ports: waiting.ports ?? [] });
    else await runSession(waiting.start, webSocketCommand(channels, { choice: waiting.choice, protocol }));
  } finally {
    channels.close();
  }
}
