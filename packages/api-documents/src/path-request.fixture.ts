import type { PathRequest } from './http-answer.ts';

/** Builds a request for tests. `target` may contain a query string. `headers` must be in lower case. */
export function pathRequest(target: string, headers: Record<string, string> = {}, method = 'GET'): PathRequest {
  const { pathname, searchParams } = new URL(target, 'http://api');
  return { method, path: pathname, query: searchParams, header: (name) => headers[name] ?? '' };
}
