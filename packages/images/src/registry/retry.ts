import { errorCode, PodwrightError, sleep } from '@podwright/base';
import { MAX_RETRY_AFTER_MS } from '../limits.ts';
import { isCut } from './connection-error.ts';
import { RegistryStatusError } from './registry-error.ts';

export type RetryPolicy = {
  /** Delay after the first failure; doubles with each further failure. */
  initialDelayMs: number;
  maxDelayMs: number;
  /** Number of consecutive failures without progress to retry; the next one is final. */
  maxFailures: number;
  /** Like `maxFailures`, but counts all failures of a transfer, even with progress in between. */
  maxFailuresInAll: number;
};

export const defaultRetryPolicy: RetryPolicy = {
  initialDelayMs: 250,
  maxDelayMs: 8_000,
  maxFailures: 5,
  maxFailuresInAll: 100,
};

/** Whether a retry of the request might succeed, because the server is busy or the connection was interrupted or stalled. */
export function isTransient(error: unknown): boolean {
  const status = statusErrorIn(error);
  if (status !== undefined) {
    return [408, 425, 429, 500, 502, 503, 504].includes(status.status) && status.retryAfterMs <= MAX_RETRY_AFTER_MS;
  }
  return isCut(error) || (error instanceof PodwrightError && isCut(error.cause));
}

/** Like `isTransient`, but for a transfer that has already started: a registry that was reachable before might become reachable again. */
export function isTransientOnceStarted(error: unknown): boolean {
  if (statusErrorIn(error) !== undefined) return isTransient(error);
  return ['unavailable', 'deadline_exceeded'].includes(errorCode(error));
}

function statusErrorIn(error: unknown): RegistryStatusError | undefined {
  if (error instanceof RegistryStatusError) return error;
  return error instanceof PodwrightError && error.cause instanceof RegistryStatusError ? error.cause : undefined;
}

export type Retry<T> = {
  policy: RetryPolicy;
  signal: AbortSignal;
  isRetryable: (error: unknown) => boolean;
  /** Returns a number that grows as the transfer advances. Whenever it has grown, the failure count restarts at 1. */
  progress?: () => number;
  attempt: (failures: number) => Promise<T>;
};

/** Repeats `attempt` while its failures are retryable and within the limits of the policy; otherwise throws its last error. */
export async function withRetries<T>({
  policy,
  signal,
  isRetryable,
  progress = () => 0,
  attempt,
}: Retry<T>): Promise<T> {
  let failures = 0;
  for (let failuresInAll = 1; ; failuresInAll++) {
    const before = progress();
    try {
      return await attempt(failuresInAll - 1);
    } catch (error) {
      signal.throwIfAborted();
      failures = progress() > before ? 1 : failures + 1;
      const hopeless = failures > policy.maxFailures || failuresInAll > policy.maxFailuresInAll;
      if (hopeless || !isRetryable(error)) throw error;
      const requestedMs = statusErrorIn(error)?.retryAfterMs ?? 0;
      const delayMs = Math.min(policy.initialDelayMs * 2 ** (failures - 1), policy.maxDelayMs);
      await sleep(Math.max(requestedMs, delayMs), signal);
    }
  }
}
