import { createWebSocketStream } from 'ws';
import { openRemoteProcess } from './client/remote-command.ts';
import { upgradeToSpdy } from './client/upgrade.ts';
import { joinConnections } from './proxy-upgrade.ts';
import type { CountBuffer } from './read-buffers.ts';
import type { StreamChoice } from './remote-process.ts';
import { SPDY_PORT_FORWARD, TUNNELLED_PORT_FORWARD } from './server/protocols.ts';
import type { UpgradingClient } from './server/serve-spdy.ts';
import { acceptWebSocket, serveWebSocket } from './server/serve-websocket.ts';
import { answerPings } from './server/websocket-channels.ts';

/** A WebSocket client's request, and the container runtime URL that serves it. */
export type TranslatedCall = (
  | { kind: 'exec' | 'attach'; choice: StreamChoice; url: string }
  | { kind: 'portforward'; url: string }
) & { countBuffer?: CountBuffer };

/**
 * Serves a command run by the container runtime to a WebSocket client. The container runtime's errors are sent on the client's error
 * channel.
 */
export function serveCommand(
  client: UpgradingClient,
  { kind, choice, url, countBuffer }: TranslatedCall & { kind: 'exec' | 'attach' },
): Promise<void> {
  const start = (gone: AbortSignal) => openRemoteProcess({ url }, choice, gone);
  return serveWebSocket(client, { kind, choice, start, countBuffer });
}

/** Tunnels a SPDY connection to the container runtime for a client that sends and receives its bytes in WebSocket messages. */
export async function serveTunnel(
  client: UpgradingClient,
  { url, countBuffer }: Pick<TranslatedCall, 'url' | 'countBuffer'>,
): Promise<void> {
  const { transport, head } = await upgradeToSpdy({ url }, { protocols: [SPDY_PORT_FORWARD] });
  const accepted = acceptWebSocket(client, [TUNNELLED_PORT_FORWARD]);
  if (accepted === undefined) return void transport.destroy();
  answerPings(accepted.socket);
  const messages = createWebSocketStream(accepted.socket);
  messages.on('error', () => messages.destroy());
  if (head.length > 0) messages.write(head);
  joinConnections(messages, transport, countBuffer);
}
