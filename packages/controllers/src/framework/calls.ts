import { setImmediate } from 'node:timers/promises';

/**
 * Calls that are started in one turn of the event loop. A server in this process may answer them in the same turn, which keeps timers and I/O
 * waiting.
 */
const CALLS_PER_TURN = 16;

/** Makes a call for each item, at the same time, and waits for all. */
export async function settledCalls<T>(
  items: readonly T[],
  call: (item: T) => Promise<unknown>,
): Promise<PromiseSettledResult<unknown>[]> {
  const results: Promise<PromiseSettledResult<unknown>[]>[] = [];
  for (let from = 0; from < items.length; from += CALLS_PER_TURN) {
    if (from > 0) await setImmediate();
    results.push(Promise.allSettled(items.slice(from, from + CALLS_PER_TURN).map((item) => call(item))));
  }
  return (await Promise.all(results)).flat();
}

/** Makes a call for each item, at the same time. Rejects with the error of the first one that failed, after all have ended. */
export async function everyCall<T>(items: readonly T[], call: (item: T) => Promise<unknown>): Promise<void> {
  const failed = (await settledCalls(items, call)).find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Returns the error of work that failed, so that the caller can report the state before it throws the error. */
export async function failureOf(work: Promise<unknown>): Promise<{ error: unknown } | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return { error };
  }
}
