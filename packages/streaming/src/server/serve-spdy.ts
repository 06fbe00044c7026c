import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { CountBuffer } from '../read-buffers.ts';
import { servePortForward } from './port-forward.ts';
import { chooseProtocol, headerValues, SPDY_COMMAND_PROTOCOLS, SPDY_PORT_FORWARD } from './protocols.ts';
import { runSession } from './session.ts';
import { acceptSpdyCommand } from './spdy-command.ts';
import type { StreamingRequest } from './streaming-request.ts';
import { terminalName } from './terminal-name.ts';
import { refuseUpgrade, switchToSpdy } from './upgrade-answers.ts';

/** A client's upgrade request, its socket, and the bytes received after the request. */
export type UpgradingClient = { request: IncomingMessage; socket: Duplex; head: Buffer };

/** A request whose URL a client has used, and the counter for the connection's buffers. */
export type ServedRequest = StreamingRequest & { countBuffer?: CountBuffer };

/** Serves a streaming request over SPDY/3.1 until both sides have ended. A client that offers no protocol gets the oldest one. */
export async function serveSpdy({ request, socket, head }: UpgradingClient, waiting: ServedRequest): Promise<void> {
  const offered = headerValues(request.headers['x-stream-protocol-version']);
  const spoken = waiting.kind === 'portforward' ? [SPDY_PORT_FORWARD] : SPDY_COMMAND_PROTOCOLS;
  const protocol = offered.length === 0 ? spoken.at(-1)! : chooseProtocol(offered, spoken);
  if (protocol === undefined) {
    const message = `unable to upgrade: the client speaks ${offered.join(', ')}, the server ${spoken.join(', ')}`;
    const headers = spoken.map((name) => `X-Accepted-Stream-Protocol-Versions: ${name}`);
    return refuseUpgrade(socket, { status: '403 Forbidden', message, headers });
  }
  switchToSpdy(socket, protocol);
  const { countBuffer } = waiting;
  if (waiting.kind === 'portforward') return servePortForward(socket, { dial: waiting.dial, head, countBuffer });
  const { streams, connection } = await acceptSpdyCommand(socket, {
    choice: waiting.choice,
    protocol,
    head,
    countBuffer,
  });
  try {
    await runSession((gone) => waiting.start(gone, terminalName(request)), streams);
  } finally {
    connection.close();
  }
}
