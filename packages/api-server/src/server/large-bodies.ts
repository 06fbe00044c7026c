import { setImmediate, setTimeout } from 'node:timers/promises';
import { tooManyRequests } from '@podwright/api-machinery';

/** Smaller bodies are processed at once. */
const LARGE_BYTES = 64 << 10;
/** Maximum size of all bodies that wait for their turn. */
const MAX_WAITING_BYTES = 64 << 20;
const MAX_PAUSE_MS = 1000;

/**
 * Lets large bodies be processed one after the other, with pauses in which the event loop serves other requests. A body can take a second of
 * CPU time to decode, validate and track.
 */
export class LargeBodies {
  #waitingBytes = 0;
  #last: Promise<void> = Promise.resolve();

  /** Waits until a body of this size may be processed. Throws 429 if too many bodies wait already, or the signal's reason in its turn. */
  async turn(bytes: number, signal?: AbortSignal): Promise<void> {
    if (bytes <= LARGE_BYTES) return;
    if (this.#waitingBytes + bytes > MAX_WAITING_BYTES)
      throw tooManyRequests('Too many large requests, please try again later.', 1);
    this.#waitingBytes += bytes;
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    this.#waitingBytes -= bytes;
    if (signal?.aborted) resolve();
    else pauseAfterWork().then(resolve, resolve);
    signal?.throwIfAborted();
  }
}

/** Resolves after the work that the caller does next, and after a pause as long as this work. */
async function pauseAfterWork(): Promise<void> {
  const startedAtMs = performance.now();
  await setImmediate();
  await setTimeout(Math.min(performance.now() - startedAtMs, MAX_PAUSE_MS));
}
