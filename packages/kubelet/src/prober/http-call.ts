import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIPv6 } from 'node:net';
import { BoundedBytes, PodwrightError, raceAbort } from '@podwright/base';
import type { Container, HttpGetAction } from '../api/types.ts';
import { resolveHost, resolvePort } from './probe-target.ts';

/** The status and the beginning of the body. */
export type HttpAnswer = { status: number; body: string };

/** As much of a body as the kubelet looks at. */
const MAX_BODY_BYTES = 10 << 10;
const MAX_REDIRECTS = 10;

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
 * as long as they stay on the host; one that leads elsewhere is the answer itself.
 */
export async function httpGet(target: HttpCallTarget, signal: AbortSignal): Promise<HttpAnswer> {
  const headers = headersOf(target);
  let url = new URL(httpGetUrl(target));
  for (let redirects = 0; ; redirects++) {
    const { answer, location } = await send(url, headers, signal);
    if (location === undefined) return answer;
    const next = redirectTarget(location, url);
    if (next.hostname !== url.hostname) return answer;
    if (redirects === MAX_REDIRECTS)
      throw new PodwrightError('unavailable', `GET ${url}: stopped after ${MAX_REDIRECTS} redirects`);
    url = next;
  }
}

/** Where a redirect leads to; `unavailable`, as for any answer that is of no use, if that is nothing to call. */
function redirectTarget(location: string, from: URL): URL {
  const target = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (target?.protocol === 'http:' || target?.protocol === 'https:') return target;
  throw new PodwrightError(
    'unavailable',
    `GET ${from}: redirected to ${JSON.stringify(location)}, which is no URL of HTTP`,
  );
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

function send(
  url: URL,
  headers: Record<string, string[]>,
  signal: AbortSignal,
): Promise<{ answer: HttpAnswer; location: string | undefined }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ answer: HttpAnswer; location: string | undefined }>();
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const outgoing = open(url, { headers, signal, agent: false, rejectUnauthorized: false });
  const fail = (error: Error) => {
    reject(
      signal.aborted
        ? signal.reason
        : new PodwrightError('unavailable', `GET ${url}: ${error.message}`, { cause: error }),
    );
  };
  outgoing.on('error', fail);
  let answered = false;
  outgoing.on('response', (response) => {
    answered = true;
    readStart(response).then((body) => {
      const status = response.statusCode ?? 0;
      const redirect = status >= 300 && status < 400 && status !== 304;
      resolve({ answer: { status, body }, location: redirect ? response.headers.location : undefined });
    }, fail);
  });
  // an answer that is none, such as 101, closes the connection without an error
  outgoing.on('close', () => answered || fail(new Error('the connection was closed without an answer')));
  outgoing.end();
  return raceAbort(promise, signal);
}

async function readStart(response: IncomingMessage): Promise<string> {
  const body = new BoundedBytes(MAX_BODY_BYTES);
  for await (const chunk of response as AsyncIterable<Buffer>) {
    body.add(chunk);
    if (body.sizeBytes === MAX_BODY_BYTES) break; // leaving the loop ends the connection
  }
  return body.bytes().toString('utf8');
}
