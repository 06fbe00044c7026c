import { raceAbort } from '@podwright/base';

/**
 * Resolves when the promise does, or after `timeoutMs`. Rejects when the promise does, or with the signal's reason when the signal aborts.
 */
export async function within(promise: Promise<unknown>, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, timeoutMs);
  try {
    await raceAbort(Promise.race([promise, late.promise]), signal);
  } finally {
    clearTimeout(timer);
  }
}
