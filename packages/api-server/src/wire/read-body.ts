import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { badRequest, tooLarge } from '@podwright/api-machinery';
import { BoundedBytes } from '@podwright/base';
import { type HttpExchange, headerOf } from './http-exchange.ts';

/** Upstream's limit on the size of a request body. */
export const MAX_BODY_BYTES = 3 << 20;

const gunzipped = promisify(gunzip);

/**
 * Reads a request body and decompresses it if gzipped. Throws 413 if its size before or after decompression exceeds `MAX_BODY_BYTES`. The
 * rest of an oversized body is left unread; `ResponseWriter` then ends the connection or stream.
 */
export async function readBody(exchange: Sent): Promise<Buffer> {
  const body = await plainBody(exchange);
  exchange.largeBody?.received(body.length);
  await exchange.largeBody?.turn(exchange.signal);
  return body;
}

type Sent = Pick<HttpExchange, 'request' | 'signal' | 'largeBody'>;

async function plainBody(exchange: Sent): Promise<Buffer> {
  const { request } = exchange;
  if (Number(headerOf(request, 'content-length')) > MAX_BODY_BYTES) throw tooLarge(MAX_BODY_BYTES);
  const sent = await collected(exchange);
  const encoding = headerOf(request, 'content-encoding').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return sent;
  if (encoding !== 'gzip') throw badRequest(`content encoding ${JSON.stringify(encoding)} is not supported`);
  return decompressed(sent);
}

/** Collects a request's body without `for await`, which would destroy the request and its connection once the limit is exceeded. */
function collected({ request, largeBody, ...exchange }: Sent): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const signal = largeBody === undefined ? exchange.signal : AbortSignal.any([exchange.signal, largeBody.refused]);
  const bytes = new BoundedBytes(MAX_BODY_BYTES);
  let count = 0;
  const listeners = {
    data: (chunk: Buffer) => {
      count += chunk.length;
      try {
        largeBody?.received(count);
      } catch (error) {
        return reject(error);
      }
      bytes.add(chunk);
      if (bytes.isCut) reject(tooLarge(MAX_BODY_BYTES));
    },
    end: () => resolve(bytes.bytes()),
    error: () => reject(badRequest('the body of the request ended early')),
    close: () => reject(badRequest('the body of the request ended early')),
  };
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  for (const [event, listener] of Object.entries(listeners)) request.on(event, listener);
  return promise.finally(() => {
    signal.removeEventListener('abort', abort);
    for (const [event, listener] of Object.entries(listeners)) request.off(event, listener);
    request.pause();
  });
}

async function decompressed(sent: Buffer): Promise<Buffer> {
  try {
    return await gunzipped(sent, { maxOutputLength: MAX_BODY_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(MAX_BODY_BYTES);
    throw badRequest(`the body of the request is no valid gzip: ${(error as Error).message}`);
  }
}
