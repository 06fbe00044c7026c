/** Measures pods while they are frozen if they could have moved files during a normal measurement, which then misses those files. */
import { errorMessage, raceAbort } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { isOfDisk } from '@podwright/kubelet-configuration';
import type { FrozenPodStats } from '../stats/frozen-stats.ts';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';
import type { MeasureFrozen, PodMeasurement } from './measure-pods.ts';
import { type Candidate, type Resource, useOf } from './rank-pods.ts';

/**
 * If usage has not changed for this long, every part of it was measured after its last change: volumes are measured every minute, layers
 * and other files more often.
 */
const EVICTION_UNCHANGED_MS = 90_000;

/** Maximum duration of a pod's first freeze before an eviction and, if that was too short, of its second one, in milliseconds. */
const EVICTION_FROZEN_MS = [300, 1500];

/** Extra time for a frozen measurement to return its partial results. */
const EVICTION_FROZEN_REST_MS = 1000;

/**
 * Whether the measurement might have missed a file, because the measurement was partial or the pod could have changed files during it.
 * Pure.
 */
export function isDoubtful(
  { isPartial, changedAtMs }: Pick<PodStatsByDisk, 'isPartial' | 'changedAtMs'>,
  nowMs: number,
): boolean {
  return isPartial === true || changedAtMs === undefined || nowMs - changedAtMs < EVICTION_UNCHANGED_MS;
}

/** Like `measureFrozen`, but never takes much longer than `maxMs`. */
export async function measureFrozenInTime(
  { frozenPodStats, stopping }: { frozenPodStats: MeasureFrozen; stopping: AbortSignal },
  pod: Pod,
  maxMs: number,
): Promise<FrozenPodStats | undefined> {
  const late = AbortSignal.any([stopping, AbortSignal.timeout(maxMs + EVICTION_FROZEN_REST_MS)]);
  return await raceAbort(frozenPodStats(pod, { maxMs, signal: late }), late);
}

/**
 * Measures the usage of eviction candidates whose last measurement may be incomplete, freezing one pod at a time. Each pod is frozen
 * briefly; if that is not long enough, it is frozen once more for longer. Records the results. A no-op for memory and PIDs. Never rejects.
 */
export async function measureFrozen(
  input: PodMeasurement,
  candidates: readonly Candidate[],
  resource: Resource,
): Promise<void> {
  if (!isOfDisk(resource.signal)) return;
  const startedAtMs = performance.now();
  const untilMs = startedAtMs + input.rankMs;
  const results = new Map<string, PodStatsByDisk>();
  let pods = doubtfulPods(input, candidates, resource);
  for (const maxMs of EVICTION_FROZEN_MS) {
    const incomplete: Pod[] = [];
    for (const pod of pods) {
      if (input.stopping.aborted || performance.now() >= untilMs) break;
      const found = await measureFrozenInTime(input, pod, maxMs).catch((error: unknown) => {
        input.logger.debug({ error: errorMessage(error) }, 'a frozen pod could not be measured');
        return undefined;
      });
      if (found === undefined) continue;
      results.set(pod.metadata.uid, found.stats);
      if (found.stats.isPartial) incomplete.push(pod);
    }
    pods = incomplete;
  }
  if (results.size > 0) input.recentUse.add([...results.values()], startedAtMs);
}

/** Returns the pods to freeze, highest usage first because there may not be time for all of them. */
function doubtfulPods({ isExempt }: PodMeasurement, candidates: readonly Candidate[], resource: Resource): Pod[] {
  const nowMs = Date.now();
  const use = ({ stats }: Candidate) => (stats === undefined ? 0n : useOf(stats, resource));
  return candidates
    .filter(({ pod }) => !isExempt(pod))
    .filter(({ stats, latest }) => [stats, latest].some((one) => one !== undefined && isDoubtful(one, nowMs)))
    .toSorted((a, b) => Number(use(b) - use(a)))
    .map(({ pod }) => pod);
}
