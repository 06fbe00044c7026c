import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { BoundedBytes, isDeadlineExceeded, PodwrightError, raceAbort } from '@podwright/base';
import type { Container, HttpGetAction } from '../api/types.ts';
import { AnswerBudget, BoundedConnection } from './bounded-connection.ts';
import { connectionProblem } from './dial-error.ts';
import { ProbeHeaders } from './http-headers.ts';
import { HTTP_ANSWER_LIMITS, MAX_INFORMATIONAL_ANSWERS, MAX_PROBE_BODY_BYTES, MAX_PROBE_REQUESTS } from './limits.ts';
import { resolveHost, resolvePort } from './probe-target.ts';

/** The status and the beginning of the body; `bodyError` if the body was cut before that. */
export type HttpAnswer = { status: number; body: string; bodyError?: string };

type Call = { headers: ProbeHeaders; budget: AnswerBudget; authorized: boolean; signal: AbortSignal };
type Reply = { answer: HttpAnswer; location: string | undefined };

export type HttpCallTarget = {
  action: HttpGetAction;
  container: Container;
  podIps: string[];
  userAgent: string;
  /** The fields that let the caller in are not sent. */
  withoutAuthorization?: boolean;
};

/** These bring a GET to another place; of the other redirects Go's client says that they are the answer. */
const FOLLOWED = [301, 302, 303, 307, 308];

/** What a server begins with that answers TLS in plain HTTP. */
const PLAIN_HTTP = 'HTTP/';
const PLAIN_HTTP_ERROR = 'http: server gave HTTP response to HTTPS client';

/** The URL of an httpGet handler. Errors: `invalid_argument`, `failed_precondition`. */
export function httpGetUrl({ action, container, podIps }: Omit<HttpCallTarget, 'userAgent'>): URL {
  const host = resolveHost(action.host, podIps);
  const path = action.path ?? '/';
  const scheme = (action.scheme || 'HTTP').toLowerCase();
  const port = resolvePort(action.port, container);
  const url = `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}${path.startsWith('/') ? path : `/${path}`}`;
  if (URL.canParse(url)) return new URL(url);
  throw new PodwrightError('invalid_argument', `${JSON.stringify(url)} is no URL`);
}

/**
 * Sends the GET of an httpGet handler as the kubelet does: certificates are not verified, and redirects are followed
 * as long as they stay on the host; one that leads elsewhere is the answer itself. An answer that is too large before its
 * body begins is `unavailable`, like one that does not come; in the body, reading ends there.
 */
export async function httpGet(target: HttpCallTarget, signal: AbortSignal): Promise<HttpAnswer> {
  const { action, userAgent } = target;
  const headers = new ProbeHeaders(action.httpHeaders ?? [], userAgent);
  const authorized = target.withoutAuthorization !== true;
  const call = { headers, budget: new AnswerBudget(HTTP_ANSWER_LIMITS), authorized, signal };
  const first = httpGetUrl(target);
  let url = first;
  let host = headers.host ?? withPort(first);
  for (let requests = 1; ; requests++) {
    const { answer, location } = await send({ url, host }, call);
    if (location === undefined) return answer;
    const next = redirectTarget(location, url);
    if (next.hostname !== first.hostname) return answer;
    if (requests >= MAX_PROBE_REQUESTS) throw failure(next, `stopped after ${MAX_PROBE_REQUESTS} redirects`);
    if (!['http:', 'https:'].includes(next.protocol))
      throw failure(next, `unsupported protocol scheme ${JSON.stringify(next.protocol.slice(0, -1))}`);
    // the name that the handler gives goes along only where the redirect leaves it open
    if (URL.canParse(location)) host = next.host;
    url = next;
  }
}

/** True of the failure of a call that asked for HTTPS and got an answer in plain HTTP. */
export function isPlainHttpAnswer(error: unknown): boolean {
  return error instanceof PodwrightError && error.message.endsWith(PLAIN_HTTP_ERROR);
}

/** Where a redirect leads to; `unavailable`, as for any answer that is of no use, if that is nothing to call. */
function redirectTarget(location: string, from: URL): URL {
  if (!URL.canParse(location, from.href))
    throw failure(from, `failed to parse Location header ${JSON.stringify(location)}`);
  return new URL(location, from);
}

/** What a call failed with, in the words of Go's client. */
function failure(url: URL, what: string, cause?: unknown): PodwrightError {
  return new PodwrightError('unavailable', `Get ${JSON.stringify(shown(url))}: ${what}`, { cause });
}

/** Without a password; an explicit port stays, also the scheme's own. */
function shown(url: URL): string {
  return `${url.protocol}//${withPort(url)}${url.pathname}${url.search}${url.hash}`;
}

const portOf = (url: URL) => Number(url.port || (url.protocol === 'https:' ? 443 : 80));
const withPort = (url: URL) => `${url.hostname}:${portOf(url)}`;

async function send({ url, host }: { url: URL; host: string }, call: Call): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const { signal, authorized } = call;
  const place = { host: withoutBrackets(url.hostname), port: portOf(url) };
  const isTls = url.protocol === 'https:';
  let connection: BoundedConnection | undefined;
  const createConnection = () => {
    connection = new BoundedConnection(place, call.budget);
    return isTls ? secured(connection, host) : connection;
  };
  const headers = call.headers.for(host, { authorized });
  const outgoing = (isTls ? httpsRequest : httpRequest)(url, { headers, signal, createConnection });
  const fail = (error: unknown) => {
    if (signal.aborted) return reject(signal.reason);
    const isPlain = isTls && connection?.beginning === PLAIN_HTTP;
    reject(failure(url, isPlain ? PLAIN_HTTP_ERROR : connectionProblem(error, place), error));
  };
  outgoing.on('error', fail);
  limitInformation(outgoing);
  let answered = false;
  outgoing.on('response', (response) => {
    answered = true;
    const status = response.statusCode ?? 0;
    const location = FOLLOWED.includes(status) ? response.headers.location : undefined;
    readStart(response, call).then((read) => resolve({ answer: { status, ...read }, location }));
  });
  // an answer that is none, such as 101, closes the connection without an error
  outgoing.on('close', () => answered || fail(new Error('EOF')));
  outgoing.end();
  try {
    return await raceAbort(promise, signal);
  } catch (error) {
    throw signal.aborted && isDeadlineExceeded(error) ? tooLate(url, answered) : error;
  } finally {
    outgoing.destroy();
    connection?.destroy();
  }
}

function limitInformation(outgoing: ClientRequest): void {
  let count = 0;
  outgoing.on('information', () => {
    if (++count > MAX_INFORMATIONAL_ANSWERS)
      outgoing.destroy(new Error(`more than ${MAX_INFORMATIONAL_ANSWERS} informational answers`));
  });
}

/** An answer that is not there, or not whole, when the handler's time is over. */
function tooLate(url: URL, answered: boolean): PodwrightError {
  const what = answered
    ? 'Client.Timeout or context cancellation while reading body'
    : 'Client.Timeout exceeded while awaiting headers';
  return failure(url, `context deadline exceeded (${what})`);
}

function secured(socket: BoundedConnection, host: string): Duplex {
  return tlsConnect({ socket, servername: serverName(host), rejectUnauthorized: false });
}

/** The name to ask the server's certificate for: that of the Host header, if it is a name and no address. */
function serverName(host: string): string {
  const url = `https://${host}`;
  const name = URL.canParse(url) ? withoutBrackets(new URL(url).hostname) : '';
  return isIP(name) === 0 ? name : '';
}

const withoutBrackets = (hostname: string) => hostname.replace(/^\[|\]$/g, '');

/** The body as far as it matters; as far as it came, if it spends the budget. */
function readStart(response: IncomingMessage, { budget, signal }: Call): Promise<{ body: string; bodyError?: string }> {
  const { promise, resolve } = Promise.withResolvers<{ body: string; bodyError?: string }>();
  const body = new BoundedBytes(MAX_PROBE_BODY_BYTES);
  const finish = (bodyError?: string) => {
    response.destroy();
    resolve({ body: body.bytes().toString('utf8'), ...(bodyError === undefined ? {} : { bodyError }) });
  };
  response.on('data', (chunk: Buffer) => {
    body.add(chunk);
    if (body.sizeBytes === MAX_PROBE_BODY_BYTES || !budget.spend(0)) finish();
  });
  response.on('end', () => finish());
  response.on('error', () => {
    if (!signal.aborted) finish(budget.isSpent ? undefined : 'unexpected EOF');
  });
  return promise;
}
