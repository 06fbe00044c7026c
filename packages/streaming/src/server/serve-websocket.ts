import { Duplex } from 'node:stream';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { forwardPort, type PortDialer, servePortForward } from './port-forward.ts';
import {
  CHANNEL_PORT_FORWARD_PROTOCOLS,
  chooseProtocol,
  headerValues,
  TUNNELLED_PORT_FORWARD,
  WEBSOCKET_COMMAND_PROTOCOLS,
} from './protocols.ts';
import type { ServedRequest, UpgradingClient } from './serve-spdy.ts';
import { runSession } from './session.ts';
import type { StreamingRequest } from './streaming-request.ts';
import { refuseUpgrade } from './upgrade-answers.ts';
import { answerPings, WebSocketChannels } from './websocket-channels.ts';
import { webSocketCommand } from './websocket-command.ts';

/** Maximum message size, as in Kubernetes' servers. A larger message closes the connection. */
const MAX_MESSAGE_BYTES = 32 << 20;

/** Serves a streaming request over a WebSocket until both sides have ended. */
export async function serveWebSocket(client: UpgradingClient, waiting: ServedRequest): Promise<void> {
  const accepted = acceptWebSocket(client, protocolsFor(waiting));
  if (accepted !== undefined) await serve(accepted.socket, { protocol: accepted.protocol, waiting });
}

/**
 * Upgrades the connection to a WebSocket with the first of the client's protocols that is in `spoken`. Returns undefined if the upgrade was
 * rejected.
 */
export function acceptWebSocket(
  client: UpgradingClient,
  spoken: string[],
  maxPayload = MAX_MESSAGE_BYTES,
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
    maxPayload,
    perMessageDeflate: false,
    autoPong: false, // `WebSocketChannels` answers pings, with a bound on unread pongs
    clientTracking: false,
  });
  // The ws library rejects the tunnel's protocol name, because a slash is not a token character. The library must therefore not see this
  // header.
  delete client.request.headers['sec-websocket-protocol'];
  if (protocol !== '') server.on('headers', (headers) => headers.push(`Sec-WebSocket-Protocol: ${protocol}`));
  // If the handshake fails, the ws library responds itself and does not call the callback, so `accepted` stays undefined.
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
  { protocol, waiting }: { protocol: string; waiting: ServedRequest },
): Promise<void> {
  const { countBuffer } = waiting;
  if (waiting.kind === 'portforward' && protocol === TUNNELLED_PORT_FORWARD) {
    answerPings(socket);
    return servePortForward(createWebSocketStream(socket), { dial: waiting.dial, head: Buffer.alloc(0), countBuffer });
  }
  const channels = new WebSocketChannels(socket, protocol, countBuffer);
  try {
    if (waiting.kind === 'portforward')
      await forwardPortChannels(channels, { dial: waiting.dial, ports: waiting.ports ?? [] });
    else await runSession(waiting.start, webSocketCommand(channels, { choice: waiting.choice, protocol }));
  } finally {
    channels.close();
  }
}

/**
 * Forwards one connection to each of `ports` over channels. Channel 2n carries the data of the nth port, and channel 2n+1 its error
 * message. Each channel starts with the port number as two bytes, little-endian. Resolves once all connections have ended.
 */
async function forwardPortChannels(
  channels: WebSocketChannels,
  { dial, ports }: { dial: PortDialer; ports: number[] },
): Promise<void> {
  const forwarding = ports.map((port, index) => {
    const number = Buffer.alloc(2);
    number.writeUInt16LE(port);
    const data = Duplex.from({ readable: channels.reader(2 * index), writable: channels.writer(2 * index) });
    const error = Duplex.from({ writable: channels.writer(2 * index + 1) });
    data.on('error', () => undefined);
    error.on('error', () => undefined);
    channels.send(2 * index, number);
    channels.send(2 * index + 1, number);
    return forwardPort(dial, { data, error, port, signal: channels.gone });
  });
  await Promise.all(forwarding);
}
