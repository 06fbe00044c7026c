/** Extracts bearer tokens from request headers. */

import type { IncomingHttpHeaders } from 'node:http';
import { RefusedCredential } from './authenticator.ts';

const PROTOCOL_PREFIX = 'base64url.bearer.authorization.k8s.io.';

/** Returns the token in the `Authorization` header (RFC 6750). */
export function bearerOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  const [scheme = '', token = ''] = authorization.trim().split(' ', 2);
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}

/**
 * Returns the token from the subprotocols of a WebSocket request. Browsers send tokens this way because they cannot set headers on
 * WebSocket requests. At least one other subprotocol is required for the server to select. Throws `RefusedCredential` if the list is
 * invalid.
 */
export function protocolTokenOf(headers: IncomingHttpHeaders): { token: string; otherProtocols: string[] } | undefined {
  if (!isWebSocket(headers)) return undefined;
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
  const [encoded, ...more] = protocols.filter((protocol) => protocol.startsWith(PROTOCOL_PREFIX));
  if (encoded === undefined) return undefined;
  if (more.length > 0) throw new RefusedCredential('multiple base64.bearer.authorization tokens specified');
  const token = decoded(encoded.slice(PROTOCOL_PREFIX.length));
  const otherProtocols = protocols.filter((protocol) => protocol !== encoded);
  if (token === '') return undefined;
  if (otherProtocols.length === 0) throw new RefusedCredential('missing additional subprotocol');
  return { token, otherProtocols };
}

function isWebSocket({ connection = '', upgrade = '' }: IncomingHttpHeaders): boolean {
  const tokens = connection.toLowerCase().split(',');
  return tokens.some((token) => token.trim() === 'upgrade') && upgrade.toLowerCase() === 'websocket';
}

function decoded(text: string): string {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new RefusedCredential('invalid base64.bearer.authorization token encoding');
  return Buffer.from(text, 'base64url').toString();
}
