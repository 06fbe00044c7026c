import type { IncomingMessage } from 'node:http';
import { PodwrightError } from '@podwright/base';
import { connectionError, shownUrl } from './connection-error.ts';

export type BodyOptions = {
  /** Longest time without a byte while one is waited for; time that the reader takes does not count. */
  stallTimeoutMs: number;
  signal: AbortSignal;
  url: string;
};

/** The bytes of a response. Rejects with `unavailable` if the connection is cut, `deadline_exceeded` if it stalls. */
export async function* readBody(message: IncomingMessage, options: BodyOptions): AsyncGenerator<Buffer> {
  const { signal, stallTimeoutMs, url } = options;
  let waiting = true;
  const timer = setTimeout(() => {
    if (!waiting) return;
    message.destroy(new PodwrightError('deadline_exceeded', `read ${shownUrl(url)}: no byte for ${stallTimeoutMs} ms`));
  }, stallTimeoutMs);
  const onAbort = () => message.destroy(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const chunks = message[Symbol.asyncIterator]();
  try {
    for (;;) {
      signal.throwIfAborted();
      waiting = true;
      timer.refresh();
      const next = await chunks.next();
      waiting = false;
      if (next.done) return;
      yield next.value as Buffer;
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : connectionError(error, url);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    if (!message.complete) message.destroy();
  }
}

/** What `readDocument` needs beyond the body's options. */
export type DocumentOptions = BodyOptions & {
  maxBytes: number;
  /** Longest time for all of it, in ms: a server may not send a byte now and then for ever. */
  timeoutMs: number;
  /** Begins error messages. */
  what: string;
};

/** A whole small response. `resource_exhausted` beyond `maxBytes`, `deadline_exceeded` if it takes too long, and as `readBody`. */
export async function readDocument(message: IncomingMessage, options: DocumentOptions): Promise<Buffer> {
  const { maxBytes, timeoutMs, what } = options;
  const late = () => new PodwrightError('deadline_exceeded', `${what}: it did not come whole in ${timeoutMs} ms`);
  const timer = setTimeout(() => message.destroy(late()), timeoutMs);
  try {
    return await readWhole(readBody(message, options), maxBytes, what);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * All bytes of a small stream; `resource_exhausted` beyond `maxBytes`. Takes memory for the bytes, whatever the size of the
 * chunks: a chunk of one byte costs some hundred when it is kept.
 */
export async function readWhole(chunks: AsyncIterable<Buffer>, maxBytes: number, what: string): Promise<Buffer> {
  let whole = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of chunks) {
    const next = size + chunk.length;
    if (next > maxBytes) throw new PodwrightError('resource_exhausted', `${what}: more than ${maxBytes} bytes`);
    if (next > whole.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(maxBytes, Math.max(2 * whole.length, next)));
      whole.copy(grown, 0, 0, size);
      whole = grown;
    }
    chunk.copy(whole, size);
    size = next;
  }
  return whole.subarray(0, size);
}
