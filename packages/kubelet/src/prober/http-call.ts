import { once } from 'node:events';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import {
  clientCiphers,
  clientContext,
  isDeadlineExceeded,
  PodwrightError,
  type RequestFields,
  raceAbort,
  readAnswer,
  requestText,
} from '@podwright/base';
import type { Container, HttpGetAction } from '@podwright/kube-api';
import { AnswerBudget, BoundedConnection } from './bounded-connection.ts';
import { type CallUrl, handlerUrl, hostnameOf, portOf, redirectUrl, requestTarget, urlText } from './call-url.ts';
import { connectionProblem, hostAndPort } from './dial-error.ts';
import { type HttpClient, ProbeHeaders } from './http-headers.ts';
import { type Reply, requestOverHttp2 } from './http2-call.ts';
import { HTTP_ANSWER_LIMITS, MAX_PROBE_BODY_BYTES, MAX_PROBE_REQUESTS } from './limits.ts';
import { resolveHost, resolvePort } from './probe-target.ts';

export type HttpAnswer = Omit<Reply, 'location'>;

type Call = { headers: ProbeHeaders; budget: AnswerBudget; authorized: boolean; signal: AbortSignal };
/** An HTTP request. `host`: the handler's Host header, if it sets one. */
type Request = { url: CallUrl; host?: string; referer?: string };
type OnHead = { onHead: () => void };

export type HttpCallTarget = {
  action: HttpGetAction;
  container: Container;
  podIps: string[];
  client: HttpClient;
  withoutAuthorization?: boolean;
};

/** Redirect status codes that a GET follows. As in Go's client, other 3xx responses are returned to the caller. */
const FOLLOWED = [301, 302, 303, 307, 308];

/** The beginning of a plain HTTP server's response to a TLS handshake. */
const PLAIN_HTTP = 'HTTP/';
const PLAIN_HTTP_ERROR = 'http: server gave HTTP response to HTTPS client';

/** Returns the URL of an httpGet handler. Throws `invalid_argument` or `failed_precondition`. */
export function httpGetUrl({ action, container, podIps }: Omit<HttpCallTarget, 'client'>): CallUrl {
  const scheme = (action.scheme || 'HTTP').toLowerCase();
  const host = hostAndPort(resolveHost(action.host, podIps), resolvePort(action.port, container));
  const url = handlerUrl({ scheme, host }, action.path || '/');
  if (url !== undefined) return url;
  throw new PodwrightError('invalid_argument', `${JSON.stringify(`${scheme}://${host}`)} is not a valid URL`);
}

/**
 * Sends the GET request of an httpGet handler like upstream: certificates are not verified, and redirects are followed only within the same
 * host; a redirect to another host is itself returned as the response. Rejects with `unavailable` if there is no response or if its header
 * exceeds the limits. A body that exceeds the limits is truncated.
 */
export async function httpGet(target: HttpCallTarget, signal: AbortSignal): Promise<HttpAnswer> {
  const { action, client } = target;
  const headers = new ProbeHeaders(action.httpHeaders ?? [], client);
  const authorized = target.withoutAuthorization !== true;
  const call = { headers, budget: new AnswerBudget(HTTP_ANSWER_LIMITS), authorized, signal };
  const first = httpGetUrl(target);
  if (first.host === '') throw failure(first, 'http: no Host in request URL');
  let request: Request = { url: first, host: headers.host };
  for (let requests = 1; ; requests++) {
    const { location, ...answer } = await send(request, call);
    if (!location || !FOLLOWED.includes(answer.status)) return answer;
    const next = redirected(location, request);
    if (hostnameOf(next.url.host) !== hostnameOf(first.host)) return answer;
    if (requests >= MAX_PROBE_REQUESTS) throw failure(location, `stopped after ${MAX_PROBE_REQUESTS} redirects`);
    const { scheme } = next.url;
    if (!['http', 'https'].includes(scheme))
      throw failure(next.url, `unsupported protocol scheme ${JSON.stringify(scheme)}`);
    request = next;
  }
}

/** Whether an HTTPS call failed because the server responded in plain HTTP. */
export function isPlainHttpAnswer(error: unknown): boolean {
  return error instanceof PodwrightError && error.message.endsWith(PLAIN_HTTP_ERROR);
}

/** Builds the request that follows a redirect. Throws `unavailable` if the Location header is invalid. */
function redirected(location: string, { url: from, host }: Request): Request {
  const found = redirectUrl(location, from);
  if (found === undefined) throw failure(from, `failed to parse Location header ${JSON.stringify(location)}`);
  const { url, isAbsolute } = found;
  const referer = from.scheme === 'https' && url.scheme === 'http' ? undefined : urlText(from);
  // a relative redirect keeps the handler's Host header
  return { url, referer, host: isAbsolute ? undefined : host };
}

/** Builds an error worded like one from Go's client. */
function failure(url: CallUrl | string, what: string, cause?: unknown): PodwrightError {
  const shown = typeof url === 'string' ? url : urlText(url);
  return new PodwrightError('unavailable', `Get ${JSON.stringify(shown)}: ${what}`, { cause });
}

async function send(request: Request, call: Call): Promise<Reply> {
  const { url, host = url.host, referer } = request;
  const { signal, authorized } = call;
  const address = { host: hostnameOf(url.host)!, port: portOf(url) };
  const connection = new BoundedConnection(address, call.budget);
  let answered = false;
  const onHead = () => {
    answered = true;
  };
  try {
    const fields = call.headers.for(host, { authorized, referer });
    return await raceAbort(exchange(connection, { url, host, fields }, { ...call, onHead }), signal);
  } catch (error) {
    if (signal.aborted) throw isDeadlineExceeded(signal.reason) ? tooLate(url, answered) : signal.reason;
    const isPlain = url.scheme === 'https' && connection.beginning === PLAIN_HTTP;
    throw failure(url, isPlain ? PLAIN_HTTP_ERROR : connectionProblem(error, address), error);
  } finally {
    connection.destroy();
  }
}

type Exchange = { url: CallUrl; host: string; fields: RequestFields };

/** Sends the request on a new connection. As in Go's client, it uses HTTP/2 if a TLS server negotiates it. */
async function exchange(connection: BoundedConnection, request: Exchange, call: Call & OnHead): Promise<Reply> {
  if (request.url.scheme !== 'https') return requestOverHttp1(connection, request, call);
  const secured = tlsConnect({
    socket: connection,
    servername: serverName(request.host),
    rejectUnauthorized: false,
    secureContext: clientContext('unverifiedServer', { ciphers: clientCiphers() }),
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  secured.on('error', () => undefined); // the handshake or the pending read reports the error
  await once(secured, 'secureConnect');
  const over = secured.alpnProtocol === 'h2' ? requestOverHttp2 : requestOverHttp1;
  return over(secured, request, call);
}

async function requestOverHttp1(
  connection: Duplex,
  { url, fields }: Exchange,
  { budget, onHead }: Call & OnHead,
): Promise<Reply> {
  const request = requestText(requestTarget(url), fields);
  const limits = { maxHeadBytes: HTTP_ANSWER_LIMITS.bytes, maxBodyBytes: MAX_PROBE_BODY_BYTES };
  const reading = readAnswer(connection, { ...limits, onHead });
  connection.write(request, 'latin1');
  const { status, fields: answered, framing, body } = await reading;
  // a body that exceeds the limits is truncated; if the body has no declared length and ends with the connection, a reset also ends it
  // without an error
  const { error } = body;
  const bodyError =
    error === undefined || budget.isSpent || framing.until === 'close' ? {} : { bodyError: error.message };
  const location = answered.get('location')?.[0];
  return { status, location, body: body.bytes.toString('utf8'), ...bodyError };
}

/** Builds the timeout error, depending on whether the response was missing or incomplete. */
function tooLate(url: CallUrl, answered: boolean): PodwrightError {
  const what = answered
    ? 'Client.Timeout or context cancellation while reading body'
    : 'Client.Timeout exceeded while awaiting headers';
  return failure(url, `context deadline exceeded (${what})`);
}

/** Returns the server name for SNI: the one in the Host header, unless that is an IP address. */
function serverName(host: string): string {
  const name = hostnameOf(host) ?? '';
  return isIP(name) === 0 ? name : '';
}
