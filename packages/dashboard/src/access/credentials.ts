import type { IncomingMessage } from 'node:http';
import type { Credentials } from './sessions.ts';

/** The subprotocol with which a WebSocket sends the key: browsers allow no headers there. */
const KEY_PROTOCOL = 'podwright.key.';
const KEY_HEADER = 'x-podwright-key';

/** Returns the cookie's name. It has the port, because servers on other ports of the host share the browser's cookies. */
export const cookieName = (port: number) => `podwright-dashboard-${port}`;

/** Returns the `Set-Cookie` header of a new session; with an empty value, of one that has ended. */
export function setCookie(port: number, cookie: string): string {
  const life = cookie === '' ? '; Max-Age=0' : '';
  return `${cookieName(port)}=${cookie}; Path=/; HttpOnly; SameSite=Strict${life}`;
}

/** Returns the credentials of a request. Those that it lacks are ''. */
export function credentialsOf(request: IncomingMessage, port: number): Credentials {
  const { headers } = request;
  const wanted = `${cookieName(port)}=`;
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const cookie = pairs.find((pair) => pair.startsWith(wanted))?.slice(wanted.length) ?? '';
  const key = headers.upgrade === undefined ? headers[KEY_HEADER]?.toString() : keyOfProtocols(protocolsOf(request));
  return { cookie, key: key ?? '' };
}

/** Returns the subprotocols that a WebSocket's client offers, without the one that has the key. */
export function offeredProtocols(request: IncomingMessage): string[] {
  return protocolsOf(request).filter((protocol) => !protocol.startsWith(KEY_PROTOCOL));
}

function protocolsOf({ headers }: IncomingMessage): string[] {
  return (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
}

function keyOfProtocols(protocols: string[]): string | undefined {
  return protocols.find((protocol) => protocol.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
}
