import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { errorMessage, PodwrightError } from '@podwright/base';
import { UPGRADE_ANSWER_TIMEOUT_MS } from './limits.ts';
import { lingeringClose } from './lingering-close.ts';
import { type CountBuffer, ignoreBuffer } from './read-buffers.ts';

/**
 * Forwards an upgrade request to another server and joins the two connections byte by byte, whatever protocol they negotiate. When the
 * server's side ends, the client still receives all of its data. When the client's side ends, the server's side is ended too. A response
 * that is not an upgrade is forwarded unchanged. If there is no response, the client receives a 502.
 */
export function proxyUpgrade(
  request: IncomingMessage,
  client: { socket: Duplex; head: Buffer },
  target: { url: string; countBuffer?: CountBuffer },
): void {
  const { socket, head } = client;
  const { url: targetUrl, countBuffer } = target;
  const send = targetUrl.startsWith('https:') ? httpsRequest : httpRequest;
  const outgoing = send(targetUrl, { method: request.method, headers: headersToPass(request), agent: false });
  const giveUp = () => outgoing.destroy();
  const timer = setTimeout(() => {
    outgoing.destroy(new PodwrightError('deadline_exceeded', `no answer within ${UPGRADE_ANSWER_TIMEOUT_MS} ms`));
  }, UPGRADE_ANSWER_TIMEOUT_MS);
  socket.on('error', () => socket.destroy());
  socket.once('close', giveUp);
  outgoing.once('close', () => clearTimeout(timer));
  outgoing.on('upgrade', (response, upstream, upstreamHead) => {
    clearTimeout(timer);
    socket.off('close', giveUp);
    socket.write(answerHead(response));
    if (upstreamHead.length > 0) socket.write(upstreamHead);
    if (head.length > 0) upstream.write(head);
    joinConnections(socket, upstream, countBuffer);
  });
  outgoing.on('response', (response) => {
    clearTimeout(timer);
    passAnswer(response, socket);
  });
  outgoing.on('error', (error) => {
    const message = `cannot reach the runtime's streaming server: ${errorMessage(error)}`;
    const lines = ['HTTP/1.1 502 Bad Gateway', 'Connection: close', `Content-Length: ${Buffer.byteLength(message)}`];
    lingeringClose(socket, Buffer.from([...lines, '', message].join('\r\n')));
  });
  outgoing.end();
}

/** Returns the headers to forward. Repeated headers stay on separate lines, because old servers do not split lists. */
function headersToPass(request: IncomingMessage): IncomingHttpHeaders {
  const { host: _host, authorization: _authorization, origin: _origin, ...headers } = request.headersDistinct;
  return { ...headers, connection: 'Upgrade' } as IncomingHttpHeaders;
}

/**
 * Forwards data in both directions. When the client's side ends, the server's side is ended too. When the server's side ends, the client
 * first receives all of its data.
 */
export function joinConnections(socket: Duplex, upstream: Duplex, countBuffer = ignoreBuffer): void {
  upstream.on('error', () => upstream.destroy());
  for (const side of [socket, upstream]) side.on('data', (chunk: Buffer) => countBuffer(chunk.length));
  socket.on('data', () => writeTogether(upstream));
  socket.pipe(upstream);
  upstream.pipe(socket, { end: false });
  socket.once('close', () => endUpstream(upstream, socket.readableEnded));
  upstream.once('close', () => {
    socket.unpipe();
    lingeringClose(socket);
  });
}

/**
 * Ends the server's side once the client's connection has closed. Over TLS, a connection also closes right after a normal end, so a slow
 * container runtime must still receive the rest of the data.
 */
function endUpstream(upstream: Duplex, hasEnded: boolean): void {
  upstream.uncork();
  if (hasEnded) lingeringClose(upstream);
  else upstream.destroy();
}

/** Coalesces all writes of this event loop turn into one, because over TLS each small record arrives as a separate chunk. */
function writeTogether(stream: Duplex): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}

function passAnswer(response: IncomingMessage, socket: Duplex): void {
  socket.write(answerHead(response, ['connection', 'transfer-encoding'], ['Connection: close']));
  response.on('error', () => socket.destroy());
  response.once('end', () => lingeringClose(socket));
  response.pipe(socket, { end: false });
}

/**
 * Returns a response's head as received, without the headers `without` (in lower case), and with the lines `extra` inserted before the
 * headers.
 */
export function answerHead(response: IncomingMessage, without: string[] = [], extra: string[] = []): string {
  const lines = [`HTTP/1.1 ${response.statusCode} ${response.statusMessage}`, ...extra];
  for (let index = 0; index < response.rawHeaders.length; index += 2) {
    const name = response.rawHeaders[index]!;
    if (!without.includes(name.toLowerCase())) lines.push(`${name}: ${response.rawHeaders[index + 1]}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}
