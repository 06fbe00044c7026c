import { posix } from 'node:path';

/**
 * Encodes a decoded path for a request line, like Go's URL.EscapedPath. The result contains no characters that could end the path or the
 * line.
 */
export const encodedPath = (path: string): string =>
  encodeURI(path).replaceAll(/[?#!'()*[\]]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * Returns the backend path from the segments after `proxy` in a proxy request, with `..` resolved so that it cannot escape the backend. ''
 * if the request has no path, not even `/`.
 */
export function subpathOf(segments: readonly string[], requestPath: string): string {
  const joined = segments.join('/');
  const rooted = joined === '' || joined.startsWith('/') ? joined : `/${joined}`;
  if (rooted === '') return requestPath.endsWith('/') ? '/' : '';
  const clean = posix.join(rooted);
  return requestPath.endsWith('/') && !clean.endsWith('/') ? `${clean}/` : clean;
}

/** Returns the query of a request target as sent by the client, including `?`, or ''. */
export function rawQuery(target = ''): string {
  const at = target.indexOf('?');
  return at === -1 ? '' : target.slice(at).split('#', 1)[0]!;
}
