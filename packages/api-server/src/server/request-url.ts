import { badRequest } from '@podwright/api-machinery';

export type RequestUrl = { path: string; query: URLSearchParams };

/**
 * Splits a request target into path and query, and decodes the path like Go. Unlike `URL`, does not resolve `..`. Since the decoded path is
 * used for both authorization and dispatch, an encoded `/` separates path segments as well. Throws 400 if the percent-encoding is
 * malformed.
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
