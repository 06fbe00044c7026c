import type { IncomingMessage } from 'node:http';
import type { Credentials } from './sessions.ts';

/** Prefix of the subprotocol that carries the session key, because pages cannot set headers in a WebSocket handshake. */
const KEY_PROTOCOL = 'podwright.key.';
const KEY_HEADER = 'x-podwright-key';

/** Returns the name of the session cookie. It contains the port because browsers send a host's cookies to all of its ports. */
const cookieName = (port: number) => `podwright-dashboard-${port}`;

/** Returns the `Set-Cookie` header for the session cookie. An empty value deletes the cookie. */
export function setCookie(port: number, cookie: string): string {
  const life = cookie === '' ? '; Max-Age=0' : '';
  return `${cookieName(port)}=${cookie}; Path=/; HttpOnly; SameSite=Strict${life}`;
}

/** Returns the session credentials in a request, with '' for missing ones. */
export function credentialsOf(request: IncomingMessage, port: number): Credentials {
  const { headers } = request;
  const wanted = `${cookieName(port)}=`;
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const cookie = pairs.find((pair) => pair.startsWith(wanted))?.slice(wanted.length) ?? '';
  const key = headers.upgrade === undefined ? headers[KEY_HEADER]?.toString() : keyOfProtocols(protocolsOf(request));
  return { cookie, key: key ?? '' };
}

/** Returns the subprotocols offered by a WebSocket client, except the one that carries the session key. */
export function offeredProtocols(request: IncomingMessage): string[] {
  return protocolsOf(request).filter((protocol) => !protocol.startsWith(KEY_PROTOCOL));
}

function protocolsOf({ headers }: IncomingMessage): string[] {
  return (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
}

function keyOfProtocols(protocols: string[]): string | undefined {
  return protocols.find((protocol) => protocol.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
}
