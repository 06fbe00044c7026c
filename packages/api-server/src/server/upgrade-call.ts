import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HttpCall } from './request-handler.ts';
import { CONNECTING, type RequestInfo, requestInfo } from './request-info.ts';
import { parseRequestUrl } from './request-url.ts';

/**
 * Whether a request may be upgraded to another protocol: connections to backends, watches over WebSocket, and all requests served by
 * extension API servers. For any other request, the server ignores the `Upgrade` header.
 */
export function isUpgradable(
  { method = '', url = '', headers }: IncomingMessage,
  isExtension: (info: RequestInfo) => boolean = () => false,
): boolean {
  try {
    const info = requestInfo(method, parseRequestUrl(url));
    const { verb, subresource } = info;
    return (
      CONNECTING.includes(subresource) ||
      isExtension(info) ||
      (verb === 'watch' && method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket')
    );
  } catch {
    return false; // the handler responds with the error
  }
}

/**
 * Creates the call for an HTTP/1.1 upgrade request. The server can send a regular HTTP response until `upgrade` takes over the connection.
 */
export function upgradeCall(request: IncomingMessage, socket: Duplex, head: Buffer): HttpCall {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.once('finish', () => socket.end());
  const upgrade = () => {
    response.statusCode = 101; // the caller sends the head
    response.detachSocket(socket as Socket);
    socket.once('close', () => response.emit('close')); // ends the request
    return { socket, head };
  };
  return { request, response, upgrade };
}
