import { type HttpExchange, type HttpRequest, headerOf } from './http-exchange.ts';

/**
 * Limits for reading the rest of a body after the response. A client that sends more than MAX_DISCARDED_BYTES or keeps sending for longer
 * than MAX_DISCARD_MS is disconnected.
 */
const MAX_DISCARDED_BYTES = 16 << 20;
const MAX_DISCARD_MS = 5_000;

/** Whether there are parts of the request body that have not been read, including parts that the client has not sent yet. */
export const hasUnreadBody = (request: HttpRequest): boolean =>
  !request.readableEnded &&
  !request.destroyed &&
  (headerOf(request, 'transfer-encoding') !== '' || Number(headerOf(request, 'content-length')) > 0);

/**
 * Drains the rest of a request body after an early response such as 413. If the server closed the connection immediately, sending the body
 * would fail and the client might not read the response.
 */
export async function discardBody({ request, signal }: Pick<HttpExchange, 'request' | 'signal'>): Promise<void> {
  if (!hasUnreadBody(request)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let remaining = MAX_DISCARDED_BYTES;
  const timer = setTimeout(resolve, MAX_DISCARD_MS);
  request.on('data', ({ length }: Buffer) => {
    remaining -= length;
    if (remaining < 0) resolve();
  });
  for (const event of ['end', 'close', 'error']) request.once(event, () => resolve());
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
  request.pause();
}
