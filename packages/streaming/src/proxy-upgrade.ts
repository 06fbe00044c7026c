import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type Duplex, pipeline } from 'node:stream';
import { errorMessage } from '@podwright/base';

/**
 * Passes an upgrade request on to another server and joins the two connections byte by byte, whatever protocol they
 * agree on. Both end together.
 */
export function proxyUpgrade(
  request: IncomingMessage,
  client: { socket: Duplex; head: Buffer },
  targetUrl: string,
): void {
  const { socket, head } = client;
  const { host: _host, authorization: _authorization, origin: _origin, ...headers } = request.headers;
  const send = targetUrl.startsWith('https:') ? httpsRequest : httpRequest;
  const outgoing = send(targetUrl, {
    method: request.method,
    headers: { ...headers, connection: 'Upgrade' },
    agent: false,
  });
  socket.on('error', () => outgoing.destroy());
  outgoing.on('upgrade', (response, upstream, upstreamHead) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${rawHeaders(response)}\r\n`);
    if (upstreamHead.length > 0) socket.write(upstreamHead);
    if (head.length > 0) upstream.write(head);
    pipeline(socket, upstream, () => undefined);
    pipeline(upstream, socket, () => undefined);
    socket.on('close', () => upstream.destroy());
    upstream.on('close', () => socket.destroy());
  });
  outgoing.on('response', (response) => {
    socket.write(
      `HTTP/1.1 ${response.statusCode} ${response.statusMessage}\r\nConnection: close\r\n${rawHeaders(response, ['connection', 'transfer-encoding'])}\r\n`,
    );
    response.pipe(socket);
  });
  outgoing.on('error', (error) => {
    const words = `cannot reach the runtime's streaming server: ${errorMessage(error)}`;
    socket.end(
      `HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(words)}\r\n\r\n${words}`,
    );
  });
  outgoing.end();
}

function rawHeaders(response: IncomingMessage, without: string[] = []): string {
  const lines: string[] = [];
  for (let index = 0; index < response.rawHeaders.length; index += 2) {
    const name = response.rawHeaders[index]!;
    if (!without.includes(name.toLowerCase())) lines.push(`${name}: ${response.rawHeaders[index + 1]}\r\n`);
  }
  return lines.join('');
}
