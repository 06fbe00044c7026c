import { once } from 'node:events';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import {
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
import { askHttp2, type Reply } from './http2-call.ts';
import { HTTP_ANSWER_LIMITS, MAX_PROBE_BODY_BYTES, MAX_PROBE_REQUESTS } from './limits.ts';
import { resolveHost, resolvePort } from './probe-target.ts';

export type HttpAnswer = Omit<Reply, 'location'>;

type Call = { headers: ProbeHeaders; budget: AnswerBudget; authorized: boolean; signal: AbortSignal };
/** `host` is what the handler calls the server, if it does. */
type Request = { url: CallUrl; host?: string; referer?: string };
type OnHead = { onHead: () => void };

export type HttpCallTarget = {
  action: HttpGetAction;
  container: Container;
  podIps: string[];
  client: HttpClient;
  /** The fields that let the caller in are not sent. */
  withoutAuthorization?: boolean;
};

/** These bring a GET to another place; of the other redirects Go's client says that they are the answer. */
const FOLLOWED = [301, 302, 303, 307, 308];

/** What a server begins with that answers TLS in plain HTTP. */
const PLAIN_HTTP = 'HTTP/';
const PLAIN_HTTP_ERROR = 'http: server gave HTTP response to HTTPS client';

/** The URL of an httpGet handler. Errors: `invalid_argument`, `failed_precondition`. */
export function httpGetUrl({ action, container, podIps }: Omit<HttpCallTarget, 'client'>): CallUrl {
  const scheme = (action.scheme || 'HTTP').toLowerCase();
  const host = hostAndPort(resolveHost(action.host, podIps), resolvePort(action.port, container));
  const url = handlerUrl({ scheme, host }, action.path || '/');
  if (url !== undefined) return url;
  throw new PodwrightError('invalid_argument', `${JSON.stringify(`${scheme}://${host}`)} is no URL`);
}

/**
 * Sends the GET of an httpGet handler as the kubelet does: certificates are not verified, and redirects are followed
 * as long as they stay on the host; one that leads elsewhere is the answer itself. An answer that is too large before its
 * body begins is `unavailable`, like one that does not come; in the body, reading ends there.
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

/** True of the failure of a call that asked for HTTPS and got an answer in plain HTTP. */
export function isPlainHttpAnswer(error: unknown): boolean {
  return error instanceof PodwrightError && error.message.endsWith(PLAIN_HTTP_ERROR);
}

/** The request that a redirect asks for; `unavailable`, as for any answer that is of no use, if that is nothing to call. */
function redirected(location: string, { url: from, host }: Request): Request {
  const found = redirectUrl(location, from);
  if (found === undefined) throw failure(from, `failed to parse Location header ${JSON.stringify(location)}`);
  const { url, isAbsolute } = found;
  const referer = from.scheme === 'https' && url.scheme === 'http' ? undefined : urlText(from);
  // the name that the handler gives goes along only where the redirect leaves it open
  return { url, referer, host: isAbsolute ? undefined : host };
}

/** What a call failed with, in the words of Go's client. */
function failure(url: CallUrl | string, what: string, cause?: unknown): PodwrightError {
  const shown = typeof url === 'string' ? url : urlText(url);
  return new PodwrightError('unavailable', `Get ${JSON.stringify(shown)}: ${what}`, { cause });
}

async function send(request: Request, call: Call): Promise<Reply> {
  const { url, host = url.host, referer } = request;
  const { signal, authorized } = call;
  const place = { host: hostnameOf(url.host)!, port: portOf(url) };
  const connection = new BoundedConnection(place, call.budget);
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
    throw failure(url, isPlain ? PLAIN_HTTP_ERROR : connectionProblem(error, place), error);
  } finally {
    connection.destroy();
  }
}

type Exchange = { url: CallUrl; host: string; fields: RequestFields };

/** Asks over a new connection; over HTTP/2 if that is what a server with TLS chooses, as Go's client does. */
async function exchange(connection: BoundedConnection, request: Exchange, call: Call & OnHead): Promise<Reply> {
  if (request.url.scheme !== 'https') return askHttp1(connection, request, call);
  const secured = tlsConnect({
    socket: connection,
    servername: serverName(request.host),
    rejectUnauthorized: false,
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  secured.on('error', () => undefined); // those who wait for the handshake or the answer get it, too
  await once(secured, 'secureConnect');
  return secured.alpnProtocol === 'h2' ? askHttp2(secured, request, call) : askHttp1(secured, request, call);
}

async function askHttp1(
  connection: Duplex,
  { url, fields }: Exchange,
  { budget, onHead }: Call & OnHead,
): Promise<Reply> {
  const request = requestText(requestTarget(url), fields);
  const limits = { maxHeadBytes: HTTP_ANSWER_LIMITS.bytes, maxBodyBytes: MAX_PROBE_BODY_BYTES };
  const reading = readAnswer(connection, { ...limits, onHead });
  connection.write(request, 'latin1');
  const { status, fields: answered, framing, body } = await reading;
  // an answer that is too large is read as far as it may be; one that ends with the connection ends with a reset, too
  const { error } = body;
  const bodyError =
    error === undefined || budget.isSpent || framing.until === 'close' ? {} : { bodyError: error.message };
  const location = answered.get('location')?.[0];
  return { status, location, body: body.bytes.toString('utf8'), ...bodyError };
}

/** An answer that is not there, or not whole, when the handler's time is over. */
function tooLate(url: CallUrl, answered: boolean): PodwrightError {
  const what = answered
    ? 'Client.Timeout or context cancellation while reading body'
    : 'Client.Timeout exceeded while awaiting headers';
  return failure(url, `context deadline exceeded (${what})`);
}

/** The name to ask the server's certificate for: that of the Host header, if it is a name and no address. */
function serverName(host: string): string {
  const name = hostnameOf(host) ?? '';
  return isIP(name) === 0 ? name : '';
}
