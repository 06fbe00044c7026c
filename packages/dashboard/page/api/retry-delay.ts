/** Delays between requests that are repeated, such as lists and watches. */

/** Delay before the first retry, doubled for each further one. Also the pause between two watches. */
export const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 15_000;

/** Exponential back-off with 20 % jitter. */
export class RetryDelay {
  #nextMs = FIRST_DELAY_MS;

  /** Waits before a retry, or until the signal aborts. Never rejects. */
  async wait(signal: AbortSignal): Promise<void> {
    const ms = this.#nextMs * (0.8 + Math.random() * 0.4);
    this.#nextMs = Math.min(this.#nextMs * 2, MAX_DELAY_MS);
    await pause(ms, signal);
  }

  /** Must be called after a success: the next delay is the shortest one. */
  reset(): void {
    this.#nextMs = FIRST_DELAY_MS;
  }
}

/** Waits `ms` milliseconds or until the signal aborts. Never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
