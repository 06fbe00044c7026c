/** exec, attach and port-forward: joins the client's upgraded connection to the node's, byte by byte. */

import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { nodeTarget } from './node-proxy.ts';
import type { ServerParts } from './request-handler.ts';
import { requestInfo } from './request-info.ts';
import { ApiError, internalError, notFound, unauthorized } from './status-error.ts';

/** Headers of the handshake are forwarded to the node; those with credentials are not. */
const HANDSHAKE = /^(connection|upgrade|origin|sec-websocket-.+|x-stream-protocol-version)$/;

type Upgrade = { request: IncomingMessage; socket: Duplex; head: Buffer };

/** Handles a request to upgrade its connection. */
export function proxyUpgrade(upgrade: Upgrade, parts: ServerParts): void {
  const { socket } = upgrade;
  socket.on('error', () => undefined);
  try {
    connectToNode(upgrade, parts);
  } catch (error) {
    refuse(socket, error instanceof ApiError ? error : internalError(String(error)));
  }
}

function connectToNode(
  { request, socket, head }: Upgrade,
  { registry, authenticator, authorizer, nodeClient }: ServerParts,
): void {
  const url = new URL(request.url ?? '/', 'https://api');
  const info = requestInfo(request.method ?? '', url.pathname, url.searchParams);
  const user = authenticator.userOf(request.socket as TLSSocket, request.headers.authorization);
  if (info === undefined) throw unauthorized();
  authorizer.check(info, user, url.searchParams);
  if (!['exec', 'attach', 'portforward', 'proxy'].includes(info.subresource))
    throw notFound(info.kind, `${info.name}/${info.subresource}`);
  const { host, port, path } = nodeTarget(registry, info, url.searchParams);
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => HANDSHAKE.test(name)));
  const outgoing = httpsRequest({
    ...{ host, port, path, headers, method: request.method },
    cert: nodeClient.certificate,
    key: nodeClient.key,
    rejectUnauthorized: false,
  });
  socket.on('close', () => outgoing.destroy());
  outgoing.on('error', (error) => refuse(socket, internalError(error.message)));
  outgoing.on('response', (answer) => {
    writeHead(socket, answer);
    answer.pipe(socket);
  });
  outgoing.on('upgrade', (answer, stream, first) => {
    writeHead(socket, answer);
    stream.on('error', () => socket.destroy());
    stream.on('close', () => socket.end());
    socket.on('close', () => stream.destroy());
    socket.write(first);
    stream.write(head);
    stream.pipe(socket);
    socket.pipe(stream);
  });
  outgoing.end();
}

function writeHead(socket: Duplex, { statusCode, statusMessage, rawHeaders }: IncomingMessage): void {
  const pairs = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []));
  socket.write([`HTTP/1.1 ${statusCode} ${statusMessage}`, ...pairs, '', ''].join('\r\n'));
}

function refuse(socket: Duplex, { status }: ApiError): void {
  const body = JSON.stringify(status);
  const headers = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close'];
  socket.end([`HTTP/1.1 ${status.code} ${status.reason ?? 'Error'}`, ...headers, '', body].join('\r\n'));
}
