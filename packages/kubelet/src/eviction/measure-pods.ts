/** Measures pods' use of a scarce resource before one of them is evicted. */
import { errorMessage, type Logger, pause, raceAbort } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { isOfDisk, type Signal } from '@podwright/kubelet-configuration';
import type { FrozenOptions, FrozenPodStats } from '../stats/frozen-stats.ts';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';
import { EVICTION_LOOK_MS, EVICTION_MEASURE_MS } from './limits.ts';
import { type Candidate, isFirstByAssumption, type Resource, type Shortage } from './rank-pods.ts';
import type { RecentUse } from './recent-use.ts';

/** How long to keep re-measuring partly measured pods before one of them is evicted based on assumed usage. */
const EVICTION_DOUBT_MS = 3000;

/** Extra time after its deadline for a measurement to return its partial results. */
const EVICTION_MEASURE_REST_MS = 250;

/** Measures the pod while it is frozen. Returns `undefined` if it cannot be frozen. See `SummaryProvider.frozenPodStats`. */
export type MeasureFrozen = (pod: Pod, options: FrozenOptions) => Promise<FrozenPodStats | undefined>;

export type PodMeasurementDependencies = {
  /**
   * Returns the usage of the given pods. With `disk`, includes any disk usage known by the time the signal aborts. With `fresh`, bypasses
   * the cache.
   */
  podStats: (
    pods: readonly Pod[],
    what: { disk: boolean; fresh: boolean },
    signal: AbortSignal,
  ) => Promise<PodStatsByDisk[]>;
  frozenPodStats: MeasureFrozen;
  isExempt: (pod: Pod) => boolean;
  logger: Logger;
};

export type PodMeasurement = PodMeasurementDependencies & {
  /** Time limit in milliseconds for `measureForRank` and `withoutDoubt`. */
  rankMs: number;
  /** Where measured usage is recorded for later eviction rounds, including results that arrive late. */
  recentUse: RecentUse;
  stopping: AbortSignal;
};

/** Measures pod usage while the pods still hold the resource, without waiting for slow volumes. Never rejects. */
export async function measureAtOnce(input: PodMeasurement, pods: Pod[], signal: Signal): Promise<void> {
  await measure(input, pods, { signal, waitMs: EVICTION_MEASURE_MS }).catch((error: unknown) =>
    input.logger.debug({ error: errorMessage(error) }, 'the pods could not be measured immediately'),
  );
}

/**
 * Measures pod usage for ranking. For memory and PID shortages, rejects if no pod's usage is known, so that no pod is evicted, as in
 * upstream.
 */
export async function measureForRank(input: PodMeasurement, pods: Pod[], resource: Resource): Promise<void> {
  const { signal } = resource;
  await measure(input, pods, { signal, waitMs: input.rankMs }).catch((error: unknown) => {
    if (input.stopping.aborted) return;
    const known = input.recentUse.atPeakUse(pods, resource, 0);
    if (!isOfDisk(signal) && known.every(({ stats }) => stats === undefined)) throw error;
    input.logger.warn({ error: errorMessage(error) }, 'the pods could not be measured: they are ranked by earlier use');
  });
}

/**
 * Re-measures partly measured pods as long as one of them would be evicted based on assumed usage: if a pod keeps replacing its files, some
 * of the measurements count it completely. `sinceMs`: start of the round (monotonic).
 */
export async function withoutDoubt(
  input: PodMeasurement,
  given: Candidate[],
  { shortage, sinceMs }: { shortage: Shortage; sinceMs: number },
): Promise<Candidate[]> {
  const { rankMs, isExempt, recentUse, stopping } = input;
  const untilMs = performance.now() + Math.min(rankMs, EVICTION_DOUBT_MS);
  const { signal } = shortage;
  let candidates = given;
  const mayBeEvicted = () => candidates.filter(({ pod }) => !isExempt(pod));
  while (isFirstByAssumption(mayBeEvicted(), shortage) && performance.now() < untilMs && !stopping.aborted) {
    const partial = candidates.flatMap(({ pod, stats }) => (stats?.isPartial ? [pod] : []));
    await measure(input, partial, { signal, waitMs: EVICTION_MEASURE_MS }).catch(() => undefined);
    const pods = candidates.map(({ pod }) => pod);
    candidates = recentUse.atPeakUse(pods, shortage, sinceMs);
    await pause(EVICTION_LOOK_MS, stopping);
  }
  return candidates;
}

/** Returns the pods' current disk usage without recording it; empty if it is not available soon. */
export async function currentDiskUse(input: PodMeasurement, pods: readonly Pod[]): Promise<PodStatsByDisk[]> {
  return await inTime(input, EVICTION_MEASURE_MS, (late) =>
    input.podStats(pods, { disk: true, fresh: true }, late),
  ).catch(() => []);
}

/** Measures pod usage, waiting up to `waitMs` for volumes. */
async function measure(
  input: PodMeasurement,
  pods: Pod[],
  { signal, waitMs }: { signal: Signal; waitMs: number },
): Promise<void> {
  const startedAtMs = performance.now();
  await inTime(input, waitMs, async (late) => {
    const stats = await input.podStats(pods, { disk: isOfDisk(signal), fresh: true }, late);
    input.recentUse.add(stats, startedAtMs);
  });
}

/** Runs a measurement that returns partial results after `waitMs`. Rejects if the measurement has not returned shortly after that. */
async function inTime<T>(
  { stopping }: PodMeasurement,
  waitMs: number,
  run: (late: AbortSignal) => Promise<T>,
): Promise<T> {
  const until = (ms: number) => AbortSignal.any([stopping, AbortSignal.timeout(ms)]);
  return await raceAbort(run(until(waitMs)), until(waitMs + EVICTION_MEASURE_REST_MS));
}
