import { setImmediate } from 'node:timers/promises';

/**
 * Number of calls started per event loop iteration. A server in this process might answer all of them in the same iteration, which delays
 * timers and I/O.
 */
const CALLS_PER_TURN = 16;

/** Makes a call for each item concurrently, and waits for all of them to settle. */
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

/** Makes a call for each item concurrently. Once all of them have settled, rejects with the error of the first item that failed. */
export async function everyCall<T>(items: readonly T[], call: (item: T) => Promise<unknown>): Promise<void> {
  const failed = (await settledCalls(items, call)).find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Returns the error of failed work, so that the caller can report the status before throwing it. */
export async function failureOf(work: Promise<unknown>): Promise<{ error: unknown } | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return { error };
  }
}
