import type { Duplex } from 'node:stream';
import { lingeringClose } from '../lingering-close.ts';

/** Accepts an upgrade to SPDY/3.1. */
export function switchToSpdy(socket: Duplex, protocol: string): void {
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
  );
}

/** Rejects an upgrade with a plain-text message and ends the connection. */
export function refuseUpgrade(
  socket: Duplex,
  { status, message, headers = [] }: { status: string; message: string; headers?: string[] },
): void {
  const lines = [`HTTP/1.1 ${status}`, 'Connection: close', 'Content-Type: text/plain', ...headers];
  lines.push(`Content-Length: ${Buffer.byteLength(message)}`, '', message);
  lingeringClose(socket, Buffer.from(lines.join('\r\n')));
}
