import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { BoundedBytes, PodwrightError, raceAbort, wrapError } from '@podwright/base';
import type { Container, HttpGetAction } from '../api/types.ts';
import { HTTP_ANSWER_LIMITS, MAX_INFORMATIONAL_ANSWERS, MAX_PROBE_BODY_BYTES, MAX_PROBE_REDIRECTS } from '../limits.ts';
import { AnswerBudget, BoundedConnection } from './bounded-connection.ts';
import { resolveHost, resolvePort } from './probe-target.ts';

/** The status and the beginning of the body. */
export type HttpAnswer = { status: number; body: string };

type Call = { headers: Record<string, string[]>; budget: AnswerBudget; signal: AbortSignal };
type Reply = { answer: HttpAnswer; location: string | undefined };

export type HttpCallTarget = { action: HttpGetAction; container: Container; podIps: string[]; userAgent: string };

/** The URL of an httpGet handler. */
export function httpGetUrl({ action, container, podIps }: Omit<HttpCallTarget, 'userAgent'>): string {
  const host = resolveHost(action.host, podIps);
  const path = action.path ?? '/';
  const scheme = (action.scheme ?? 'HTTP').toLowerCase();
  return `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${resolvePort(action.port, container)}${path.startsWith('/') ? path : `/${path}`}`;
}

/**
 * Sends the GET of an httpGet handler as the kubelet does: certificates are not verified, and redirects are followed
 * as long as they stay on the host; one that leads elsewhere is the answer itself. An answer that is too large before its
 * body begins is `unavailable`; in the body, reading ends there.
 */
export async function httpGet(target: HttpCallTarget, signal: AbortSignal): Promise<HttpAnswer> {
  const call = { headers: headersOf(target), budget: new AnswerBudget(HTTP_ANSWER_LIMITS), signal };
  let url = new URL(httpGetUrl(target));
  for (let redirects = 0; ; redirects++) {
    const { answer, location } = await send(url, call);
    if (location === undefined) return answer;
    const next = redirectTarget(location, url);
    if (next.hostname !== url.hostname) return answer;
    if (!['http:', 'https:'].includes(next.protocol)) throw noTarget(location, url);
    if (redirects === MAX_PROBE_REDIRECTS)
      throw new PodwrightError('unavailable', `GET ${url}: stopped after ${MAX_PROBE_REDIRECTS} redirects`);
    url = next;
  }
}

/** Where a redirect leads to; `unavailable`, as for any answer that is of no use, if that is nothing to call. */
function redirectTarget(location: string, from: URL): URL {
  if (!URL.canParse(location, from.href)) throw noTarget(location, from);
  return new URL(location, from);
}

function noTarget(location: string, from: URL): PodwrightError {
  const message = `GET ${from}: redirected to ${JSON.stringify(location)}, which is no URL of HTTP`;
  return new PodwrightError('unavailable', message);
}

/** The handler's headers over ours; one that comes several times is sent as often. */
function headersOf({ action, userAgent }: HttpCallTarget): Record<string, string[]> {
  const own: Record<string, string[]> = {};
  for (const { name, value } of action.httpHeaders ?? []) {
    const key = name.toLowerCase();
    own[key] = [...(own[key] ?? []), value];
  }
  return { 'user-agent': [userAgent], accept: ['*/*'], ...own };
}

async function send(url: URL, call: Call): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const { headers, signal } = call;
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const outgoing = open(url, { headers, signal, createConnection: () => connectTo(url, call) });
  const fail = (error: Error) => {
    reject(signal.aborted ? signal.reason : wrapError(`GET ${url}`, error, 'unavailable'));
  };
  outgoing.on('error', fail);
  let informational = 0;
  outgoing.on('information', () => {
    if (++informational > MAX_INFORMATIONAL_ANSWERS)
      outgoing.destroy(new Error(`more than ${MAX_INFORMATIONAL_ANSWERS} informational answers`));
  });
  let answered = false;
  outgoing.on('response', (response) => {
    answered = true;
    readStart(response, call.budget).then((body) => {
      const status = response.statusCode ?? 0;
      const redirect = status >= 300 && status < 400 && status !== 304;
      resolve({ answer: { status, body }, location: redirect ? response.headers.location : undefined });
    }, fail);
  });
  // an answer that is none, such as 101, closes the connection without an error
  outgoing.on('close', () => answered || fail(new Error('the connection was closed without an answer')));
  outgoing.end();
  try {
    return await raceAbort(promise, signal);
  } finally {
    outgoing.destroy();
  }
}

function connectTo(url: URL, { headers, budget }: Call): Duplex {
  const host = withoutBrackets(url.hostname);
  const isTls = url.protocol === 'https:';
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  const connection = new BoundedConnection({ host, port }, budget);
  if (!isTls) return connection;
  return tlsConnect({ socket: connection, servername: serverName(headers.host?.[0], host), rejectUnauthorized: false });
}

/** The name to ask the server's certificate for: that of the Host header, if the handler has one; never an address. */
function serverName(header: string | undefined, host: string): string {
  const from = `https://${header}`;
  const name = header !== undefined && URL.canParse(from) ? withoutBrackets(new URL(from).hostname) : host;
  return isIP(name) === 0 ? name : '';
}

const withoutBrackets = (hostname: string) => hostname.replace(/^\[|\]$/g, '');

/** The body as far as it matters; as far as it came, if it spends the budget. */
function readStart(response: IncomingMessage, budget: AnswerBudget): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const body = new BoundedBytes(MAX_PROBE_BODY_BYTES);
  const finish = () => {
    response.destroy();
    resolve(body.bytes().toString('utf8'));
  };
  response.on('data', (chunk: Buffer) => {
    body.add(chunk);
    if (body.sizeBytes === MAX_PROBE_BODY_BYTES || !budget.spend(0)) finish();
  });
  response.on('end', finish);
  response.on('error', (error) => (budget.isSpent ? finish() : reject(error)));
  return promise;
}
