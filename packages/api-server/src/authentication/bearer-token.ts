/** Finds tokens in the headers of requests. */

import type { IncomingHttpHeaders } from 'node:http';
import { RefusedCredential } from './authenticator.ts';

const PROTOCOL_PREFIX = 'base64url.bearer.authorization.k8s.io.';

/** The token in the header Authorization (RFC 6750). */
export function bearerOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  const [scheme = '', token = ''] = authorization.trim().split(' ', 2);
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}

/**
 * The token among the subprotocols of a WebSocket request. Browsers send tokens in this way, because they cannot set the headers of such a
 * request. At least one other protocol must be listed, for the server to choose. Throws `RefusedCredential` for an invalid list.
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
