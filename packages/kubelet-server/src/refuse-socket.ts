import type { Duplex } from 'node:stream';
import type { Refusal } from './api-route.ts';

/** Sends an error response to an upgrade request and closes the connection. */
export function refuseSocket(socket: Duplex, { status, message, headers = {} }: Refusal): void {
  if (socket.destroyed) return;
  const body = Buffer.from(message);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_WORDS[status] ?? 'Error'}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${body.length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]));
}

const STATUS_WORDS: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
};
