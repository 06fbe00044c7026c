import type { IncomingMessage } from 'node:http';

/**
 * Splits a request target into path and query. The path is not decoded. It is `undefined` if the target is not a path, contains a fragment,
 * or contains invalid escapes.
 */
export function parseTarget({ url = '/' }: IncomingMessage): { path: string | undefined; query: URLSearchParams } {
  const [raw = '', ...query] = url.split('?');
  const searchParams = new URLSearchParams(query.join('?'));
  try {
    decodeURIComponent(raw);
    const isPath = raw.startsWith('/') && !url.includes('#');
    return { path: isPath ? raw : undefined, query: searchParams };
  } catch {
    return { path: undefined, query: searchParams };
  }
}

/** Returns the percent-decoded path, or `undefined` if the request target has no valid path. */
export function decodedPath(request: IncomingMessage): string | undefined {
  const { path } = parseTarget(request);
  return path === undefined ? undefined : decodeURIComponent(path); // does not throw: parseTarget has checked the escapes
}
