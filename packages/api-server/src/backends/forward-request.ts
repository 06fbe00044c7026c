import type { ClientRequest } from 'node:http';
import { ApiError } from '@podwright/api-machinery';
import type { HttpExchange } from '../wire/http-exchange.ts';
import type { Backend } from './backend.ts';
import { answerTo, passResponse } from './backend-response.ts';
import { dialError } from './dial-error.ts';
import { hasBody, requestHeaders, responseHeaders } from './forwarded-headers.ts';
import { rewrittenLocation } from './rewritten-location.ts';

export type ForwardedRequest = {
  backend: Backend;
  /** The encoded path for the backend, with the query. */
  path: string;
  /** The path of the API server below which clients see the backend's paths, without a slash at its end. */
  prefix: string;
};

/**
 * Forwards a request to a backend, and streams both bodies. Redirects are not followed but passed to the client. Throws 503 if the backend
 * cannot be reached.
 */
export async function forwardRequest(
  exchange: HttpExchange,
  { backend, path, prefix }: ForwardedRequest,
): Promise<void> {
  const { request } = exchange;
  const { method = 'GET' } = request;
  const headers = requestHeaders(request, { uri: prefix + path.split('?', 1)[0]! });
  const outgoing = backend.request({ method, path, headers });
  sendBody(exchange, outgoing);
  const { response, upgraded } = await answerTo(outgoing, exchange.signal).catch((error: unknown) => {
    throw unreachable(exchange, dialError(error, backend.authority));
  });
  if (upgraded !== undefined) {
    upgraded.socket.destroy();
    throw unreachable(exchange, 'the backend switched protocols without a request');
  }
  const passed = responseHeaders(response);
  const host = headers.host?.toString() ?? '';
  passed.location &&= passed.location.map((location) => rewrittenLocation(location, { backend, host, prefix }));
  await passResponse(exchange, response, passed);
}

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

/** The signal's reason, if it has one for the client, such as a server that stops. */
function unreachable({ signal }: HttpExchange, reason: string): ApiError {
  if (signal.reason instanceof ApiError) return signal.reason;
  return new ApiError(503, 'ServiceUnavailable', { message: `error trying to reach service: ${reason}` });
}
