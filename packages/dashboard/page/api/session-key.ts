/**
 * The session key, which every request carries in addition to the cookie. It is in `localStorage`, which servers on other ports of the host
 * cannot read.
 */

const NAME = 'podwright-key';

/** Returns the session key; '' if there is none. */
export const sessionKey = (): string => localStorage.getItem(NAME) ?? '';

export function keepSessionKey(key: string): void {
  localStorage.setItem(NAME, key);
}

export function forgetSessionKey(): void {
  localStorage.removeItem(NAME);
}

/** Returns the subprotocol that carries the session key: a page cannot set headers on the handshake of a WebSocket. */
export const keyProtocol = (): string => `podwright.key.${sessionKey()}`;

/** Returns the URL of a WebSocket. `path` has no leading slash. */
export function socketUrl(path: string): string {
  const url = new URL(path, location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.hash = '';
  return url.href;
}
