/** Kills of containers that used more memory than their limits allow. Pure. */
import type { Pod } from '../api/objects.ts';

/** `time` is in Unix milliseconds. */
export type MemoryKill = { container: string; time: number };

/** Maximum number of kills that are kept for a pod. */
const MAX_KILLS = 100;

/**
 * Returns the kills that were known before, and those in the statuses of the containers. The API keeps only the last end of each container,
 * so earlier kills are those that the page has seen. A list without new kills is returned as it is.
 */
export function memoryKills(before: readonly MemoryKill[], { status }: Pod): readonly MemoryKill[] {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const found = statuses.flatMap(({ name: container, state, lastState }) =>
    [lastState?.terminated, state?.terminated].flatMap((end) => {
      const time = Date.parse(end?.finishedAt ?? '');
      return end?.reason === 'OOMKilled' && time > 0 ? [{ container, time }] : [];
    }),
  );
  const added = found.filter((one) => !before.some((two) => two.container === one.container && two.time === one.time));
  if (added.length === 0) return before;
  return [...before, ...added].sort((a, b) => a.time - b.time).slice(-MAX_KILLS);
}
