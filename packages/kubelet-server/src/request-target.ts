import type { IncomingMessage } from 'node:http';

/**
 * Splits a request target. The path is not decoded; it is `undefined` if the target is not a path, has a fragment, or has
 * invalid escapes.
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

/** Returns the percent-decoded path. */
export function decodedPath(request: IncomingMessage): string | undefined {
  const { path } = parseTarget(request);
  return path === undefined ? undefined : decodeURIComponent(path); // does not throw: parseTarget has checked the escapes
}
