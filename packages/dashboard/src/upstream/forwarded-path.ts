/** The paths that are forwarded to the API server. */
const FORWARDED = /^\/(?:api|apis|openapi|version)(?:\/|$)/;
/** A path (RFC 3986, section 3.3) without empty segments. */
const PATH = /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2})+)+\/?$/i;
/** Subresources that accept WebSockets. */
const STREAMS = new Set(['exec', 'attach']);

/** A page's request for the API server. `target` is the path with its query; `stream` is true for a WebSocket. */
export type ForwardedCall = { method: string; target: string; stream: boolean };

/** Reports whether a path, without its query, belongs to the API server. */
export const isForwarded = (path: string): boolean => FORWARDED.test(path);

/**
 * Returns why a request must not be forwarded; undefined if it may be. Answers of the subresource `proxy` come from programs in pods, and
 * the browser would take them for files of the page. Only a node's `stats/summary` is forwarded, because the kubelet writes it.
 */
export function forwardingProblem({ method, target, stream }: ForwardedCall): string | undefined {
  const [path = '', query] = splitTarget(target);
  if (!isForwarded(path) || !PATH.test(path)) return 'the path is not forwarded to the API server';
  const segments = path.split('/').slice(1).map(decoded);
  if (segments.some((segment) => segment === undefined || isAmbiguous(segment))) return 'the path is ambiguous';
  if (query !== undefined && !/^[\x21-\x7e]*$/.test(query)) return 'the query has characters that must be encoded';
  const subresource = subresourceOf(segments as string[]);
  if (stream)
    return subresource !== undefined && STREAMS.has(subresource) ? undefined : 'the path does not accept a WebSocket';
  if (subresource === 'portforward') return 'ports are not forwarded to browsers';
  if (subresource !== 'proxy') return undefined;
  return method === 'GET' && /^\/api\/v1\/nodes\/[^/]+\/proxy\/stats\/summary$/.test(path)
    ? undefined
    : 'answers of programs in pods are not shown in the origin of this page';
}

/** Splits a request target at its first question mark. */
export function splitTarget(target: string): [path: string, query?: string] {
  const mark = target.indexOf('?');
  return mark === -1 ? [target] : [target.slice(0, mark), target.slice(mark + 1)];
}

/** Returns the subresource that a path names; '' if it names none, and undefined for paths outside of `/api` and `/apis`. */
function subresourceOf(segments: readonly string[]): string | undefined {
  const depth = segments[0] === 'api' ? 2 : segments[0] === 'apis' ? 3 : undefined;
  if (depth === undefined) return undefined;
  const rest = segments.slice(depth);
  // `/api/v1/proxy/…` was removed from API servers, and `/api/v1/watch/…` is deprecated
  if (rest[0] === 'proxy') return 'proxy';
  const place = rest[0] === 'watch' ? rest.slice(1) : rest;
  const isNamespaced = place[0] === 'namespaces' && place.length > 3;
  return (isNamespaced ? place[4] : place[2]) ?? '';
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Reports whether a server that decodes a path twice or normalizes it could take a decoded segment for another one, or for several. */
function isAmbiguous(segment: string): boolean {
  return segment === '.' || segment === '..' || /[/\\%?#\x00-\x1f\x7f]/.test(segment);
}
