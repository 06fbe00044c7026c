import { raceAbort } from '@podwright/base';

/** Resolves with the promise or after `timeoutMs`; rejects with the promise or with the signal's reason. */
export async function within(promise: Promise<unknown>, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, timeoutMs);
  try {
    await raceAbort(Promise.race([promise, late.promise]), signal);
  } finally {
    clearTimeout(timer);
  }
}
