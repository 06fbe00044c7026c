import type { IncomingMessage } from 'node:http';
import { PodwrightError } from '@podwright/base';
import { connectionError } from './connection-error.ts';

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
    message.destroy(new PodwrightError('deadline_exceeded', `read ${url}: no byte for ${stallTimeoutMs} ms`));
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

/** A whole small body; `resource_exhausted` beyond `maxBytes`. */
export async function readWhole(chunks: AsyncIterable<Buffer>, maxBytes: number, what: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) throw new PodwrightError('resource_exhausted', `${what}: more than ${maxBytes} bytes`);
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}
