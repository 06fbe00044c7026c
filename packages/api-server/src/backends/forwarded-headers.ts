/** Headers of requests forwarded to backends, and of their responses. */
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { HttpRequest } from '../wire/http-exchange.ts';

type Headers = Record<string, string[]>;

/** Hop-by-hop headers (RFC 9110, 7.6.1), plus those removed by Go's reverse proxy. */
const HOP_BY_HOP: readonly string[] = [
  'connection',
  'expect', // answered by this server
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Headers with API server credentials, which must not be leaked to backends, or with user names, which backends must not trust. */
const OF_API_SERVER = /^(?:authorization$|impersonate-|x-remote-(?:user|uid|group|extra-))/;
const TOKEN_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';

/** CORS response headers, which would let a backend control what other sites may do with the API server. */
const OF_CORS = /^access-control-allow-(?:credentials|headers|methods|origin)$/;

/**
 * Returns the headers to forward for a request without protocol upgrade. They always announce the body, if any: the backend would interpret
 * an unannounced body as another request.
 */
export function requestHeaders(request: HttpRequest, { uri }: { uri: string }): OutgoingHttpHeaders {
  return { ...forwardable(request), 'x-forwarded-uri': uri, ...bodyHeaders(request) };
}

/** Whether a request has a body. */
export const hasBody = (request: HttpRequest): boolean => Object.keys(bodyHeaders(request)).length > 0;

/** Returns the headers to forward for a protocol upgrade request, which has no body. */
export function upgradeHeaders(request: HttpRequest): OutgoingHttpHeaders {
  const { 'sec-websocket-protocol': offered, ...headers } = forwardable(request);
  const protocols = withoutTokens(offered);
  return {
    ...headers,
    ...(protocols && { 'sec-websocket-protocol': protocols }),
    connection: 'Upgrade',
    upgrade: request.headers.upgrade,
    ...(request.method !== 'GET' && { 'content-length': '0' }),
  };
}

/** Returns the headers of a backend's response to pass to the client. */
export function responseHeaders({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): Headers {
  const headers = grouped(rawHeaders);
  const dropped = droppedNames(headers);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name) && !OF_CORS.test(name)));
}

function forwardable(request: HttpRequest): Headers & { host?: string } {
  const headers = grouped(request.rawHeaders);
  const dropped = droppedNames(headers).add('content-length');
  const kept = Object.entries(headers).filter(([name]) => !dropped.has(name) && !OF_API_SERVER.test(name));
  const [host] = headers[':authority'] ?? headers.host ?? [];
  const client = (request as Partial<IncomingMessage>).socket?.remoteAddress;
  return {
    ...Object.fromEntries(kept.filter(([name]) => !name.startsWith(':'))),
    ...(client && { 'x-forwarded-for': [[...(headers['x-forwarded-for'] ?? []), client].join(', ')] }),
    ...((host && { host }) as object), // node:https accepts only text
  };
}

/**
 * Returns the headers that announce the request's body to the backend; none if there is no body. A body of unknown length, e.g. over
 * HTTP/2, is forwarded in chunks.
 */
function bodyHeaders(request: HttpRequest): OutgoingHttpHeaders {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (length !== undefined) return { 'content-length': length };
  const stream = (request as Partial<Http2ServerRequest>).stream;
  return encoding !== undefined || stream?.endAfterHeaders === false ? { 'transfer-encoding': 'chunked' } : {};
}

function grouped(rawHeaders: readonly string[]): Headers {
  const headers: Headers = Object.create(null);
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    headers[name] = [...(headers[name] ?? []), rawHeaders[index + 1]!];
  }
  return headers;
}

/** Returns the names of the hop-by-hop headers, including those listed in the `Connection` header. */
function droppedNames({ connection = [] }: Headers): Set<string> {
  const named = connection.flatMap((list) => list.split(',')).map((name) => name.trim().toLowerCase());
  return new Set([...HOP_BY_HOP, ...named]);
}

function withoutTokens(protocols: readonly string[] | undefined): string | undefined {
  const all = protocols?.flatMap((list) => list.split(',')).map((protocol) => protocol.trim());
  return all?.filter((protocol) => !protocol.startsWith(TOKEN_PROTOCOL)).join(', ');
}
