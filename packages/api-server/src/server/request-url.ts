import { badRequest } from '@podwright/api-machinery';

export type RequestUrl = { path: string; query: URLSearchParams };

/**
 * Splits a request target into path and query, and decodes the path like Go. Unlike `URL`, does not resolve `..`. The decoded path is used
 * for both authorization and dispatch, so an encoded `/` also separates path segments. Throws 400 for malformed percent-encoding.
 */
export function parseRequestUrl(target: string): RequestUrl {
  const relative = target.replace(/^https?:\/\/[^/?]*/i, '').split('#', 1)[0]!;
  const at = relative.indexOf('?');
  const [path, query] = at === -1 ? [relative, ''] : [relative.slice(0, at), relative.slice(at + 1)];
  return { path: decoded(path === '' ? '/' : path), query: new URLSearchParams(query) };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw badRequest(`invalid URL path ${JSON.stringify(path.slice(0, 200))}`);
  }
}
