/** OOM kills of containers that exceeded their memory limits. Pure functions. */
import type { Pod } from '../api/objects.ts';
import { countText } from './text.ts';

/** An OOM kill of a container. `time` is in Unix milliseconds. */
export type MemoryKill = { container: string; time: number };

/**
 * Describes the kills of a container that are known. A container restarts for other reasons too, and earlier kills are not known, so the
 * numbers of restarts and of kills differ; `restarts` is also the number in the explanation of the pod.
 */
export const killsText = (kills: number, restarts: number): string =>
  `${countText(restarts, 'restart')} so far; this page has seen ${countText(kills, 'kill')}`;

const MAX_KILLS = 100;

/**
 * Adds the kills in the container statuses to the known ones. The API only retains the last termination of each container, so earlier kills
 * are only known if the page saw them. Returns `before` itself if there are no new kills.
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
