import type { IncomingMessage } from 'node:http';
import { gatherBytes, PodwrightError, Timer } from '@podwright/base';
import { connectionError, shownUrl } from './connection-error.ts';

export type BodyOptions = {
  /** Maximum time to wait for more bytes, in ms. Time between the reader's reads does not count. */
  stallTimeoutMs: number;
  signal: AbortSignal;
  url: string;
};

/** Reads a response body. Rejects with `unavailable` if the connection breaks, and with `deadline_exceeded` if it stalls. */
export async function* readBody(message: IncomingMessage, options: BodyOptions): AsyncGenerator<Buffer> {
  const { signal, stallTimeoutMs, url } = options;
  let waiting = true;
  using timer = new Timer(() => {
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
    signal.removeEventListener('abort', onAbort);
    if (!message.complete) message.destroy();
  }
}

export type DocumentOptions = BodyOptions & {
  maxBytes: number;
  /** Maximum time for the whole body, in ms. Catches servers that trickle bytes, which the stall timeout does not. */
  timeoutMs: number;
  /** Prefix of the messages of errors about this body. */
  what: string;
};

/**
 * Reads a small response body. Rejects with `resource_exhausted` if it exceeds `maxBytes`, with `deadline_exceeded` after `timeoutMs`, and
 * with the errors of `readBody`.
 */
export async function readDocument(message: IncomingMessage, options: DocumentOptions): Promise<Buffer> {
  const { maxBytes, timeoutMs, what } = options;
  const late = () => new PodwrightError('deadline_exceeded', `${what}: not complete after ${timeoutMs} ms`);
  using _timer = new Timer(() => message.destroy(late()), timeoutMs);
  const tooLarge = () => new PodwrightError('resource_exhausted', `${what}: more than ${maxBytes} bytes`);
  return await gatherBytes(readBody(message, options), maxBytes, tooLarge);
}
