import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { ApiError } from '@podwright/api-machinery';
import type { HttpExchange } from '../wire/http-exchange.ts';
import type { Backend, BackendCall } from './backend.ts';
import { answerTo, type BackendAnswer, passResponse } from './backend-response.ts';
import { dialError } from './dial-error.ts';
import { hasBody, requestHeaders, responseHeaders } from './forwarded-headers.ts';
import { rewrittenLocation } from './rewritten-location.ts';

export type ForwardedRequest = {
  backend: Backend;
  /** Path and query for the request to the backend, percent-encoded. */
  path: string;
  /** The API server path under which clients see the backend's paths, without a trailing slash. */
  prefix: string;
  /** Headers for the backend, which are added to the client's or replace them. Names are in lowercase. */
  headers?: OutgoingHttpHeaders;
  /** Whether to reject a redirect with 502 instead of passing it to the client. */
  refusesRedirects?: boolean;
};

const REDIRECTED = 'the backend attempted to redirect this request, which is not permitted';

/**
 * Forwards a request to a backend and streams both bodies. Redirects are not followed but passed to the client. Throws 503 if the backend
 * cannot be reached, and 502 for a rejected redirect.
 */
export async function forwardRequest(
  exchange: HttpExchange,
  { backend, path, prefix, headers: added, refusesRedirects = false }: ForwardedRequest,
): Promise<void> {
  const { request } = exchange;
  const { method = 'GET' } = request;
  const headers = { ...requestHeaders(request, { uri: prefix + path.split('?', 1)[0]! }), ...added };
  const { response, upgraded } = await answerOf(exchange, backend, { method, path, headers }).catch(
    (error: unknown) => {
      throw unreachable(exchange, dialError(error, backend.authority));
    },
  );
  if (upgraded !== undefined) {
    upgraded.socket.destroy();
    throw unreachable(exchange, 'the backend switched protocols without a request');
  }
  const passed = responseHeaders(response);
  if (refusesRedirects && isRedirect(response)) {
    response.destroy();
    throw new ApiError(502, '', { message: REDIRECTED });
  }
  const host = headers.host?.toString() ?? '';
  passed.location &&= passed.location.map((location) => rewrittenLocation(location, { backend, host, prefix }));
  await passResponse(exchange, response, passed);
}

/**
 * Sends a request, on an idle connection if there is one. If the backend has closed that connection, a GET or HEAD request without a body
 * is sent again, as by Go's transport. Other requests are not: the backend might have processed them.
 */
async function answerOf(exchange: HttpExchange, backend: Backend, call: BackendCall): Promise<BackendAnswer> {
  const isRepeatable = ['GET', 'HEAD'].includes(call.method) && !hasBody(exchange.request);
  const outgoing = backend.request({ ...call, mayReuse: true });
  sendBody(exchange, outgoing);
  try {
    return await answerTo(outgoing, exchange.signal);
  } catch (error) {
    const isStale = outgoing.reusedSocket && ['ECONNRESET', 'EPIPE'].includes((error as { code?: string }).code ?? '');
    if (!isStale || !isRepeatable) throw error;
    return answerTo(backend.request(call).end(), exchange.signal);
  }
}

const isRedirect = ({ statusCode = 0, headers }: IncomingMessage): boolean =>
  statusCode >= 300 && statusCode < 400 && headers.location !== undefined;

function sendBody({ request }: HttpExchange, outgoing: ClientRequest): void {
  if (!hasBody(request)) return void outgoing.end();
  const giveUp = () => outgoing.destroy();
  for (const event of ['error', 'aborted']) request.once(event, giveUp);
  outgoing.once('close', () => {
    request.unpipe(outgoing);
    request.resume(); // a rest of the body is discarded
  });
  request.pipe(outgoing);
}

/** Returns the error for a backend that cannot be reached, or the signal's reason if it is meant for the client, e.g. server shutdown. */
function unreachable({ signal }: HttpExchange, reason: string): ApiError {
  if (signal.reason instanceof ApiError) return signal.reason;
  return new ApiError(503, 'ServiceUnavailable', { message: `error trying to reach service: ${reason}` });
}
