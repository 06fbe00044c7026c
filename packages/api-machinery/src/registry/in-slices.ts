import { setImmediate } from 'node:timers/promises';

/** How long a slice takes, in milliseconds. */
const SLICE_MS = 2;

/** `turn`: waits until the next slice may run. Default: other work runs between slices. `limit`: maximum number of results. */
export type SliceOptions = { turn?: (() => Promise<void>) | undefined; limit?: number };

/** Like `flatMap`, in slices, so that a long list does not block the event loop. Stops when there are more results than `limit`. */
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
