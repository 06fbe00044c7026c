/** Measures pods while they are frozen if their files may have been moved out of the way of the measurement. */
import { errorMessage, raceAbort } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { isOfDisk } from '@podwright/kubelet-configuration';
import type { FrozenPodStats } from '../stats/frozen-stats.ts';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';
import type { MeasureFrozen, PodMeasurement } from './measure-pods.ts';
import { type Candidate, type Resource, useOf } from './rank-pods.ts';

/**
 * Usage that has not changed for this long was measured after the last change in each of its parts: volumes are measured each minute, layers
 * and other files more often.
 */
const EVICTION_UNCHANGED_MS = 90_000;

/** How long a pod may be frozen before an eviction: at first, and again if that was not enough. */
const EVICTION_FROZEN_MS = [300, 1500];

/** Extra time for a measurement of a frozen pod to return its partial results. */
const EVICTION_FROZEN_REST_MS = 1000;

/** Whether a file of the pod may have been missed, because the pod was only partly measured or may have changed files meanwhile. Pure. */
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
 * Measures those pods, one after the other, while they are frozen, of whose usage a part may have been missed and that may be evicted. Each is
 * frozen briefly; those for which that was not enough are frozen once more. Records the results. Does nothing for memory and PIDs. Never rejects.
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

/** Returns the pods to freeze. Those that use most come first, because there may not be time for all. */
function doubtfulPods({ isExempt }: PodMeasurement, candidates: readonly Candidate[], resource: Resource): Pod[] {
  const nowMs = Date.now();
  const use = ({ stats }: Candidate) => (stats === undefined ? 0n : useOf(stats, resource));
  return candidates
    .filter(({ pod }) => !isExempt(pod))
    .filter(({ stats, latest }) => [stats, latest].some((one) => one !== undefined && isDoubtful(one, nowMs)))
    .toSorted((a, b) => Number(use(b) - use(a)))
    .map(({ pod }) => pod);
}
