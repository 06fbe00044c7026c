/**
 * The session key, which is sent with every request in addition to the cookie. Unlike cookies, `localStorage` is not accessible to servers
 * on other ports of the same host.
 */

const NAME = 'podwright-key';

/** Returns the session key, or '' if there is none. */
export const sessionKey = (): string => localStorage.getItem(NAME) ?? '';

export function keepSessionKey(key: string): void {
  localStorage.setItem(NAME, key);
}

export function forgetSessionKey(): void {
  localStorage.removeItem(NAME);
}

/** Returns the subprotocol that carries the session key, because pages cannot set headers in a WebSocket handshake. */
export const keyProtocol = (): string => `podwright.key.${sessionKey()}`;

/** Returns a WebSocket URL. `path` has no leading slash. */
export function socketUrl(path: string): string {
  const url = new URL(path, location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.hash = '';
  return url.href;
}
