import { errorCode, sleep, withTimeout } from '@podwright/base';
import { ApiStatusError } from '../api-status-error.ts';
import type { CallOptions } from '../kube-client.ts';
import { CALL_TIMEOUT_MS, MAX_REPEATS, MAX_RETRY_AFTER_SECONDS } from '../limits.ts';

/** An unsuccessful response: its status code and `Retry-After` delay. */
type Refusal = { code: number; retryAfterSeconds?: number };

/**
 * Returns the delay before a retry; `undefined` if the request must not be retried. Like client-go, retries a 429 or 5xx only if its
 * `Retry-After` header sets a delay.
 */
export function secondsToRepeat({ code, retryAfterSeconds }: Refusal, repeats: number): number | undefined {
  if (repeats >= MAX_REPEATS || (code !== 429 && code < 500)) return undefined;
  return retryAfterSeconds === undefined ? undefined : Math.min(retryAfterSeconds, MAX_RETRY_AFTER_SECONDS);
}

/** Waits for the delay. If the deadline passes first, rejects with the server's error rather than a deadline error. */
export async function waitUnlessLate(seconds: number, signal: AbortSignal, error: Error): Promise<void> {
  try {
    await sleep(seconds * 1000, signal);
  } catch (reason) {
    throw errorCode(reason) === 'deadline_exceeded' ? error : reason;
  }
}

/** Calls a function, and retries it after each failure if the Status specifies a retry delay. */
export async function withRepeats<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await attempt();
    } catch (error) {
      const seconds = error instanceof ApiStatusError ? secondsToRepeat(error.status, repeats) : undefined;
      if (seconds === undefined) throw error;
      await waitUnlessLate(seconds, signal, error as ApiStatusError);
    }
  }
}

/** Like `withRepeats`, but with a call's deadline and signal. `what` names the call in errors. */
export async function repeatedCall<T>(
  what: string,
  { signal: given, timeoutMs = CALL_TIMEOUT_MS }: CallOptions,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using signal = withTimeout(given, timeoutMs, what);
  return await withRepeats(() => attempt(signal), signal);
}
