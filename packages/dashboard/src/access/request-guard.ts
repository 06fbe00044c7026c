import type { IncomingMessage } from 'node:http';
import { MAX_TARGET_LENGTH } from '../limits.ts';
import { isOwnHost } from './hosts.ts';

/** The accepted methods. `OPTIONS` is not one of them: no cross-origin request is allowed, so no preflight has to succeed. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** Methods with which browsers may send no Origin header. */
const READS = new Set(['GET', 'HEAD']);

/**
 * Returns why a request is refused whatever its session: it is not for this host, or comes from a page of another origin. Returns undefined
 * if its session may be checked.
 */
export function requestProblem(request: IncomingMessage, listenHost: string): string | undefined {
  const { method = '', url = '', headersDistinct } = request;
  if (!METHODS.has(method)) return `the method ${JSON.stringify(method.slice(0, 20))} is not accepted`;
  if (!url.startsWith('/') || url.startsWith('//') || url.length > MAX_TARGET_LENGTH)
    return `the request target must be a path of at most ${MAX_TARGET_LENGTH} characters`;
  const [host = '', ...otherHosts] = headersDistinct.host ?? [];
  if (otherHosts.length > 0 || !isOwnHost(host, listenHost)) return 'the Host header does not name this server';
  const [origin, ...otherOrigins] = headersDistinct.origin ?? [];
  if (otherOrigins.length > 0 || (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`))
    return 'the request comes from a page of another origin';
  if (origin === undefined && (!READS.has(method) || headersDistinct.upgrade !== undefined))
    return 'the request has no Origin header';
  return isOwnSite(request) ? undefined : 'the request comes from another site, or from a frame';
}

/**
 * Reports whether a request comes from a page of this server, by its Fetch Metadata headers (`Sec-Fetch-*`). Clients without these headers
 * pass. A link on another site may open the document, but not in a frame.
 */
function isOwnSite({ headers, url }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin') return true;
  const isDocument = headers['sec-fetch-dest'] === 'document' && headers['sec-fetch-mode'] === 'navigate';
  return url === '/' && isDocument;
}
