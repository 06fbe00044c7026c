import type { IncomingMessage } from 'node:http';

/** The path as it came; `undefined` for a target that is no path, has a fragment, or whose escapes make no sense. */
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

/** The path without its escapes. */
export function decodedPath(request: IncomingMessage): string | undefined {
  const { path } = parseTarget(request);
  return path === undefined ? undefined : decodeURIComponent(path); // which parseTarget has tried
}
