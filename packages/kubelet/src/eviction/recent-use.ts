/** Records pods' usage during recent shortages, because a pod may release the resource before an eviction can measure it. */
import type { Pod } from '@podwright/kube-api';
import { conditionOf, isOfDisk, type PressureCondition, type Signal } from '@podwright/kubelet-configuration';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';
import { type Candidate, type Resource, type Shortage, useOf } from './rank-pods.ts';

/**
 * Number of recent shortages after which a pod is evicted, even if each shortage ended before an eviction or is not explained by the pods'
 * usage.
 */
const EVICTION_SHORTAGES = 3;

/** Maximum number of measurements, and of shortages, to retain. */
const EVICTION_MEASUREMENTS = 30;

/**
 * Maximum age of a measurement used for an eviction. `mostUnsteady` uses measurements for up to twice the transition period, if that is
 * longer.
 */
const EVICTION_RECENT_MS = 120_000;

type Measurement = { atMs: number; byUid: ReadonlyMap<string, PodStatsByDisk> };

/** Records pod usage measurements and counts shortages. Times are monotonic milliseconds. */
export class RecentUse {
  readonly #retentionMs: number;
  #measurements: Measurement[] = [];
  #shortages: { condition: PressureCondition; atMs: number }[] = [];

  /**
   * `transitionMs`: the pressure transition period. A pressure condition persists as long as its shortages are no further apart than this.
   */
  constructor(transitionMs: number) {
    this.#retentionMs = Math.max(EVICTION_RECENT_MS, 2 * transitionMs);
  }

  add(stats: readonly PodStatsByDisk[], atMs: number): void {
    const measurement = { atMs, byUid: new Map(stats.map((one) => [one.podRef.uid, one])) };
    this.#measurements = [
      ...this.#measurements.filter((one) => atMs - one.atMs < this.#retentionMs),
      measurement,
    ].slice(-EVICTION_MEASUREMENTS);
  }

  /**
   * Counts a shortage that ended before an eviction or that pod usage does not account for. Returns true if there have recently been enough
   * of them to evict a pod.
   */
  countShortage(signal: Signal, atMs: number): boolean {
    const condition = conditionOf(signal);
    this.#shortages = [
      ...this.#shortages.filter((one) => atMs - one.atMs < this.#retentionMs),
      { condition, atMs },
    ].slice(-EVICTION_MEASUREMENTS);
    return this.#shortages.filter((one) => one.condition === condition).length >= EVICTION_SHORTAGES;
  }

  forgetShortages(): void {
    this.#shortages = [];
  }

  /**
   * Pairs each pod with its highest-usage measurement of the last two minutes (`stats`) and its latest complete one (`latest`). `stats` is
   * marked partial if no measurement since `sinceMs` is certain to include all of the pod's usage. If only some are, for example because a
   * pod keeps replacing its files, `latest` is the larger of the latest measurement and the latest certain one.
   */
  atPeakUse(pods: readonly Pod[], resource: Resource, sinceMs: number): Candidate[] {
    const nowMs = performance.now();
    const recent = this.#measurements.filter(({ atMs }) => nowMs - atMs < EVICTION_RECENT_MS);
    const current = recent.filter(({ atMs }) => atMs >= sinceMs);
    return pods.map((pod) => {
      const complete = completeOf(pod, recent, resource);
      const stats = byUse(complete, resource).at(-1);
      const own = new Set(measuredOf(pod, current, resource));
      const whole = complete.findLast((one) => own.has(one) && !isUncertain(one));
      const latest = byUse([...complete.slice(-1), whole ?? []].flat(), resource).at(-1);
      return { pod, stats: stats && { ...stats, isPartial: whole === undefined }, latest };
    });
  }

  /**
   * Returns the pod whose usage varied most across the measurements. Returns `undefined` if that variation is too small to have caused the
   * shortage, or if all pods together account for less than half of `freed`: the host must then have freed the rest.
   */
  mostUnsteady(pods: readonly Pod[], shortage: Shortage, freed: bigint): Candidate | undefined {
    const changes = pods.flatMap((pod) => {
      const measured = byUse(completeOf(pod, this.#measurements, shortage), shortage);
      // a partial measurement may lack any part of the usage, so take the minimum from a complete one if there is one
      const [least, most] = [measured.find(({ isPartial }) => !isPartial) ?? measured[0], measured.at(-1)];
      if (least === undefined || most === undefined) return [];
      return [{ pod, stats: most, change: useOf(most, shortage) - useOf(least, shortage) }];
    });
    const ofPods = changes.reduce((sum, { change }) => sum + change, 0n);
    const [first] = changes.toSorted((a, b) => (a.change < b.change ? 1 : a.change > b.change ? -1 : 0));
    if (first === undefined || first.change < shortage.missing || ofPods < freed / 2n) return undefined;
    return { pod: first.pod, stats: first.stats };
  }
}

/** Sorts a pod's measurements by ascending usage, then by age, oldest first. */
function byUse(measured: readonly PodStatsByDisk[], resource: Resource): PodStatsByDisk[] {
  return measured.toSorted((a, b) => Number(useOf(a, resource) - useOf(b, resource)));
}

/**
 * Returns the pod's measurements that cover all disks and volumes relevant to the resource. Measurements taken for memory lack disk usage,
 * and those taken during the first walk of a volume lack that volume.
 */
function completeOf(pod: Pod, measurements: readonly Measurement[], resource: Resource): PodStatsByDisk[] {
  const measured = measuredOf(pod, measurements, resource);
  const volumes = Math.max(...measured.map(volumeCount));
  return measured.filter((one) => !isOfDisk(resource.signal) || volumeCount(one) === volumes);
}

function measuredOf({ metadata }: Pod, measurements: readonly Measurement[], { signal }: Resource): PodStatsByDisk[] {
  const own = measurements.flatMap(({ byUid }) => byUid.get(metadata.uid) ?? []);
  return own.filter(({ disks }) => disks !== undefined || !isOfDisk(signal));
}

/** Whether the pod might be using more than was measured: the measurement was partial, or the pod could have moved files to escape it. */
export const isUncertain = ({ isPartial, changes }: PodStatsByDisk): boolean =>
  isPartial === true || changes === 'directories';

const volumeCount = ({ volume }: PodStatsByDisk) => volume?.length ?? 0;
