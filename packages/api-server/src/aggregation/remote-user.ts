/** Headers that identify the user of a request to an extension API server (client-go, transport/round_trippers.go). */
import type { OutgoingHttpHeaders } from 'node:http';
import type { UserInfo } from '@podwright/kube-kinds';

/** The values that kubeadm sets for upstream's `--requestheader-…` flags, plus the header for the UID. */
export const REMOTE_HEADERS = { user: 'X-Remote-User', uid: 'X-Remote-Uid', group: 'X-Remote-Group' } as const;
export const REMOTE_EXTRA_PREFIX = 'X-Remote-Extra-';

/** The user's name or another attribute cannot be sent as a header value. */
export class UnsendableUser extends Error {}

/** Returns the headers for a user. Throws `UnsendableUser`. */
export function remoteUserHeaders({ username, uid = '', groups, extra = {} }: UserInfo): OutgoingHttpHeaders {
  const value = (header: string, text: string) => headerValue(text, header);
  const headers: OutgoingHttpHeaders = { [REMOTE_HEADERS.user]: value(REMOTE_HEADERS.user, username) };
  if (uid !== '') headers[REMOTE_HEADERS.uid] = value(REMOTE_HEADERS.uid, uid);
  if (groups.length > 0) headers[REMOTE_HEADERS.group] = groups.map((one) => value(REMOTE_HEADERS.group, one));
  for (const [key, values] of Object.entries(extra)) {
    const name = REMOTE_EXTRA_PREFIX + escapedKey(key);
    if (values.length > 0) headers[name] = values.map((one) => value(name, one));
  }
  return headers;
}

/**
 * Encodes a text as a UTF-8 header value. Rejects control characters, and spaces at either end: receivers would trim them and so mistake
 * one user for another.
 */
function headerValue(text: string, header: string): string {
  if (/[\u0000-\u001f\u007f]/.test(text) || text !== text.trim())
    throw new UnsendableUser(`net/http: invalid header field value for ${JSON.stringify(header)}`);
  return Buffer.from(text).toString('latin1');
}

/** Percent-encodes `%` and the bytes of a key that are not allowed in header names. */
const escapedKey = (key: string): string =>
  [...Buffer.from(key)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      if (/[A-Za-z0-9!#$&'*+.^_`|~-]/.test(character)) return character;
      return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
