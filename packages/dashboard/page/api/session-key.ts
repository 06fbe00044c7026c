/** The key of the session, which every request carries besides the cookie. The storage belongs to this origin alone. */

const NAME = 'podwright-key';

/** '' before the first login. */
export const sessionKey = (): string => localStorage.getItem(NAME) ?? '';

export function keepSessionKey(key: string): void {
  localStorage.setItem(NAME, key);
}

export function forgetSessionKey(): void {
  localStorage.removeItem(NAME);
}

/** The subprotocol that carries the key for a WebSocket, which has no headers of its own. */
export const keyProtocol = (): string => `podwright.key.${sessionKey()}`;

/** The URL of a WebSocket at a path without a leading slash. */
export function socketUrl(path: string): string {
  const url = new URL(path, location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.hash = '';
  return url.href;
}
