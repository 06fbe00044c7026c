/** The paths that are forwarded to the API server. */
const FORWARDED = /^\/(?:api|apis|openapi|version)(?:\/|$)/;
/** Matches a path without empty segments (RFC 3986, section 3.3). */
const PATH = /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2})+)+\/?$/i;
/** The deprecated paths of watches, such as `/api/v1/watch/pods`. */
const WATCH_PATH = /^\/(?:api|apis\/[^/]+)\/[^/]+\/watch(?:\/|$)/;
/** Subresources that accept WebSockets. */
const STREAMS = new Set(['exec', 'attach']);

/** A request from a page to the API server. `target`: the path including the query. `stream`: whether this is a WebSocket. */
export type ForwardedCall = { method: string; target: string; stream: boolean };

/** Whether a path (without query) belongs to the API server. */
export const isForwarded = (path: string): boolean => FORWARDED.test(path);

/**
 * Returns why a request must not be forwarded, or undefined if it may be. Responses of the `proxy` subresource come from programs in pods,
 * and browsers would treat them as part of the page's origin. The only exception is a node's `stats/summary`, which comes from the kubelet.
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

/** Splits a request target at the first question mark. */
export function splitTarget(target: string): [path: string, query?: string] {
  const mark = target.indexOf('?');
  return mark === -1 ? [target] : [target.slice(0, mark), target.slice(mark + 1)];
}

/**
 * Whether the response to a request might take minutes, because it is a watch or a followed log. Such a request needs its own connection.
 */
export function isLongLived(target: string): boolean {
  const [path = '', text = ''] = splitTarget(target);
  const query = new URLSearchParams(text);
  const decodedPath = path.split('/').map(decoded).join('/');
  return isSet(query.get('watch')) || isSet(query.get('follow')) || WATCH_PATH.test(decodedPath);
}

/** Whether a boolean parameter is true for an API server, as any value is except `false` and `0` (apimachinery, Convert_Slice_string_To_bool). */
const isSet = (value: string | null) => value !== null && value !== '0' && value.toLowerCase() !== 'false';

/** Returns the subresource in a path, '' if there is none, or undefined for paths outside `/api` and `/apis`. */
function subresourceOf(segments: readonly string[]): string | undefined {
  const depth = segments[0] === 'api' ? 2 : segments[0] === 'apis' ? 3 : undefined;
  if (depth === undefined) return undefined;
  const rest = segments.slice(depth);
  // API servers no longer serve `/api/v1/proxy/…`, but it is treated as the subresource anyway; `/api/v1/watch/…` is deprecated, but still
  // served
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

/** Whether a server that normalizes a path or decodes it twice could take a decoded segment for a different one, or for more than one. */
function isAmbiguous(segment: string): boolean {
  return segment === '.' || segment === '..' || /[/\\%?#\x00-\x1f\x7f]/.test(segment);
}
