import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { gatherBytes, isErrno, PodwrightError, raceAbort, wrapError } from '@podwright/base';
import { CONNECT_TIMEOUT_MS, MAX_READ_BYTES } from '../limits.ts';
import type { ApiServer } from './api-server.ts';

/** A request to the API server. `target`: the path including the query, without the server's prefix. */
export type UpstreamCall = {
  method: string;
  target: string;
  headers: Record<string, string>;
  body?: Buffer;
  /** Whether the request needs its own connection, as streams do. */
  dedicated?: boolean;
};

/** The API server's response: a regular response or an upgraded connection. */
export type UpstreamAnswer =
  | { type: 'response'; response: IncomingMessage }
  | { type: 'upgrade'; response: IncomingMessage; socket: Duplex; head: Buffer };

/**
 * Sends a request with the API server's credentials. Retries once if the server returns 401 and there are new credentials, or if a GET
 * failed because the server had closed the keep-alive connection. Rejects with `unavailable` if the server cannot be reached, and with the
 * signal's reason on abort. The caller must read or destroy the response; the signal destroys it too.
 */
export async function sendUpstream(api: ApiServer, call: UpstreamCall, signal: AbortSignal): Promise<UpstreamAnswer> {
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted();
    const header = await raceAbort(Promise.resolve(api.authorization.header(signal)), signal);
    const answer = await sendOnce(api, withCredentials(call, header), signal).catch((error: unknown) => {
      if (attempt === 0 && call.method === 'GET' && error instanceof StaleConnection) return undefined;
      throw error;
    });
    if (answer === undefined) continue;
    if (answer.response.statusCode !== 401 || attempt > 0) return answer;
    if (!(await hasNewCredentials(api, header))) return answer;
    answer.response.destroy();
  }
}

/**
 * Sends a request and reads the entire response. Rejects like `sendUpstream`, as well as with `resource_exhausted` if the response is too
 * large and `unavailable` if the connection is lost.
 */
export async function readUpstream(
  api: ApiServer,
  call: UpstreamCall,
  signal: AbortSignal,
): Promise<{ status: number; body: Buffer }> {
  const answer = await sendUpstream(api, call, signal);
  if (answer.type === 'upgrade') {
    answer.socket.destroy();
    throw new PodwrightError('internal', `${call.target}: unexpected upgrade of the connection`);
  }
  const { response } = answer;
  const tooLong = () =>
    new PodwrightError('resource_exhausted', `${call.target}: the answer has more than ${MAX_READ_BYTES >> 20} MiB`);
  try {
    const body = await gatherBytes(response, MAX_READ_BYTES, tooLong);
    return { status: response.statusCode ?? 0, body };
  } catch (error) {
    throw signal.aborted ? signal.reason : wrapError(`read ${call.target}`, error, 'unavailable');
  }
}

/** Thrown if the server closed the keep-alive connection before receiving the request. */
class StaleConnection extends PodwrightError {}

function withCredentials(call: UpstreamCall, authorization: string | undefined): UpstreamCall {
  return authorization === undefined ? call : { ...call, headers: { ...call.headers, authorization } };
}

async function hasNewCredentials(api: ApiServer, header: string | undefined): Promise<boolean> {
  try {
    return (await api.authorization.refused?.(header)) ?? false;
  } catch {
    return false; // the page receives the server's 401
  }
}

async function sendOnce(api: ApiServer, call: UpstreamCall, signal: AbortSignal): Promise<UpstreamAnswer> {
  const { method, target, body, dedicated = false } = call;
  const { secure, options } = await connectionOf(api, dedicated);
  const length = body === undefined ? {} : { 'content-length': String(body.length) };
  const headers = { ...call.headers, ...length };
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamAnswer>();
  const send = secure ? requestHttps : requestHttp;
  const request = send({ ...options, method, path: `${api.prefix}${target}`, headers, signal });
  boundConnecting(request);
  request.once('response', (response) => resolve({ type: 'response', response }));
  request.once('upgrade', (response, socket, head) => {
    if (signal.aborted) socket.destroy();
    resolve({ type: 'upgrade', response, socket, head });
  });
  request.on('error', (error) => {
    if (signal.aborted) return reject(signal.reason);
    const isStale = request.reusedSocket && (isErrno(error, 'ECONNRESET') || isErrno(error, 'EPIPE'));
    const message = `cannot reach the API server ${api.name}: ${error.message}`;
    reject(new (isStale ? StaleConnection : PodwrightError)('unavailable', message));
  });
  request.end(body);
  return promise;
}

async function connectionOf(api: ApiServer, dedicated: boolean) {
  try {
    return await api.connection(dedicated);
  } catch (error) {
    throw wrapError(`cannot connect to the API server ${api.name}`, error, 'unavailable');
  }
}

/** Fails the request if connecting, including the TLS handshake, takes too long. */
function boundConnecting(request: ClientRequest): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const late = () => request.destroy(new Error(`no connection within ${CONNECT_TIMEOUT_MS / 1000} s`));
    const timer = setTimeout(late, CONNECT_TIMEOUT_MS);
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => clearTimeout(timer));
    request.once('close', () => clearTimeout(timer));
  });
}
