import type { IncomingMessage } from 'node:http';
import type { TranslatedCall } from './serve-translated.ts';
import { headerValues, TUNNELLED_PORT_FORWARD, WEBSOCKET_COMMAND_PROTOCOLS } from './server/protocols.ts';
import type { UpgradingClient } from './server/serve-spdy.ts';

const [STREAM_CLOSE_PROTOCOL = ''] = WEBSOCKET_COMMAND_PROTOCOLS;

/**
 * Whether the client uses a WebSocket protocol that older container runtimes do not support. The kubelet must then translate it to SPDY for
 * the runtime (upstream's ExtendWebSocketsToKubelet).
 */
export function needsTranslation({ headers }: IncomingMessage, kind: TranslatedCall['kind']): boolean {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return false;
  const offered = headerValues(headers['sec-websocket-protocol']);
  return offered.includes(kind === 'portforward' ? TUNNELLED_PORT_FORWARD : STREAM_CLOSE_PROTOCOL);
}

/**
 * Serves a client whose protocol needs translation until both sides have ended. For a port-forward, rejects if the container runtime cannot
 * be reached.
 */
export async function translateUpgrade(client: UpgradingClient, call: TranslatedCall): Promise<void> {
  const { serveTunnel, serveCommand } = await import('./serve-translated.ts');
  return call.kind === 'portforward' ? serveTunnel(client, call) : serveCommand(client, call);
}
