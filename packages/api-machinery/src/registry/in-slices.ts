import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 2;

/**
 * Options of `inSlices`. `turn`: waits until the next slice can run. Default: yields to the event loop between slices. `limit`: maximum
 * number of results.
 */
export type SliceOptions = { turn?: (() => Promise<void>) | undefined; limit?: number };

/** Like `flatMap`, but in slices, so that a long list does not block the event loop. Stops once there are more than `limit` results. */
export async function inSlices<T, R>(
  values: readonly T[],
  work: (value: T) => readonly R[],
  { turn = setImmediate, limit = Number.POSITIVE_INFINITY }: SliceOptions = {},
): Promise<R[]> {
  const results: R[] = [];
  let endMs = performance.now() + SLICE_MS;
  for (const value of values) {
    if (performance.now() > endMs) {
      await turn();
      endMs = performance.now() + SLICE_MS;
    }
    results.push(...work(value));
    if (results.length > limit) break;
  }
  return results;
}
