import { badRequest } from '../status/api-error.ts';

export type RequestUrl = { path: string; query: URLSearchParams };

/**
 * Splits a request target and decodes its path like Go. Unlike `URL`, does not resolve `..`: the path that is authorized is the path that is
 * served, so an encoded `/` separates names too. Throws 400 for malformed escapes.
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
