import type { IncomingMessage } from 'node:http';
import { MAX_TARGET_LENGTH } from '../limits.ts';
import { isOwnHost } from './hosts.ts';

/** Accepted methods. `OPTIONS` is not included: cross-origin requests are not allowed, so preflights need not succeed. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** Methods for which browsers may omit the Origin header. */
const READS = new Set(['GET', 'HEAD']);

/**
 * Returns why a request is rejected regardless of its session: it is not for this host, or comes from a different origin. Returns undefined
 * if the request may proceed to the session check.
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
 * Whether a request comes from a page of this server, according to its Fetch Metadata headers (`Sec-Fetch-*`). Clients that do not send
 * these headers are accepted. Links on other sites may open the document, but not in a frame.
 */
function isOwnSite({ headers, url }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin') return true;
  const isDocument = headers['sec-fetch-dest'] === 'document' && headers['sec-fetch-mode'] === 'navigate';
  return url === '/' && isDocument;
}
