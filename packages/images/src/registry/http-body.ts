import type { IncomingMessage } from 'node:http';
import { gatherBytes, MAX_TIMER_MS, PodwrightError } from '@podwright/base';
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
  const timer = setTimeout(
    () => {
      if (!waiting) return;
      message.destroy(
        new PodwrightError('deadline_exceeded', `read ${shownUrl(url)}: no byte for ${stallTimeoutMs} ms`),
      );
    },
    Math.min(stallTimeoutMs, MAX_TIMER_MS),
  );
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
  const timer = setTimeout(() => message.destroy(late()), Math.min(timeoutMs, MAX_TIMER_MS));
  try {
    const tooLarge = () => new PodwrightError('resource_exhausted', `${what}: more than ${maxBytes} bytes`);
    return await gatherBytes(readBody(message, options), maxBytes, tooLarge);
  } finally {
    clearTimeout(timer);
  }
}
