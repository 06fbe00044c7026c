import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { gatherBytes, PodwrightError } from '@podwright/base';
import { securityHeaders } from '../access/security-headers.ts';
import { MAX_BODY_BYTES } from '../limits.ts';
import type { ApiServer } from './api-server.ts';
import { answerHeaders, forwardedHeaders } from './forwarded-headers.ts';
import { isLongLived } from './forwarded-path.ts';
import { sendUpstream } from './send.ts';

/**
 * Forwards a request to the API server and streams the response to the page. The caller must have checked the path with
 * `forwardingProblem`. Rejects with `unavailable` if the API server cannot be reached.
 */
export async function forwardRequest(
  api: ApiServer,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  signal: AbortSignal,
): Promise<void> {
  const { method = '', url: target = '', headers } = request;
  const body = await bodyOf(request, MAX_BODY_BYTES);
  const dedicated = isLongLived(target);
  const call = { method, target, headers: forwardedHeaders(headers), body, dedicated };
  const answer = await sendUpstream(api, call, signal);
  if (answer.type === 'upgrade') {
    answer.socket.destroy();
    throw new PodwrightError('unavailable', 'the API server upgraded the connection without a request for it');
  }
  const { statusCode = 502, headers: given } = answer.response;
  response.writeHead(withoutRedirect(statusCode), { ...securityHeaders('data'), ...answerHeaders(given) });
  response.flushHeaders(); // a watch may have no event for a long time
  await pipeline(answer.response, response, { signal });
}

/** Reads the request body. Resolves to undefined if there is none. Rejects with `invalid_argument` if it is too large. */
export async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const { headers } = request;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return undefined;
  return await gatherBytes(
    request,
    maxBytes,
    () => new PodwrightError('invalid_argument', `the body has more than ${maxBytes >> 10} KiB`),
  );
}

/** Replaces redirects, which the browser would follow, with 502 (Bad Gateway). */
const withoutRedirect = (status: number) => (status >= 300 && status < 400 && status !== 304 ? 502 : status);
