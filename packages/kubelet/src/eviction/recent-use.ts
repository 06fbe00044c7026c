/** Records pods' usage during recent shortages, because a pod may free the resource before an eviction can measure it. */
import type { Pod } from '@podwright/kube-api';
import { conditionOf, isOfDisk, type PressureCondition, type Signal } from '@podwright/kubelet-configuration';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';
import { type Candidate, type Resource, type Shortage, useOf } from './rank-pods.ts';

/** A pod is evicted after this many recent shortages, even if they ended before an eviction or pods' usage does not explain them. */
const EVICTION_SHORTAGES = 3;

/** Maximum number of stored measurements, and of stored shortages. */
const EVICTION_MEASUREMENTS = 30;

/** How long a measurement counts for an eviction. `mostUnsteady` uses measurements for at least twice the transition period. */
const EVICTION_RECENT_MS = 120_000;

type Measurement = { atMs: number; byUid: ReadonlyMap<string, PodStatsByDisk> };

/** Records measurements of pods and counts shortages. Times are monotonic milliseconds. */
export class RecentUse {
  readonly #retentionMs: number;
  #measurements: Measurement[] = [];
  #shortages: { condition: PressureCondition; atMs: number }[] = [];

  /** `transitionMs`: a condition persists if its shortages are at most this far apart. */
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
   * Counts a shortage that was over before an eviction, or that the usage of pods does not explain. Returns whether there have been enough
   * recent ones to evict a pod.
   */
  countShortage(signal: Signal, atMs: number): boolean {
    const condition = conditionOf(signal);
    this.#shortages = [
      ...this.#shortages.filter((one) => atMs - one.atMs < this.#retentionMs),
      { condition, atMs },
    ].slice(-EVICTION_MEASUREMENTS);
    return this.#shortages.filter((one) => one.condition === condition).length >= EVICTION_SHORTAGES;
  }

  /** Resets the count of shortages, after an eviction. */
  forgetShortages(): void {
    this.#shortages = [];
  }

  /**
   * The pods, each with its measurement of highest usage in the last two minutes (`stats`) and its latest complete one. `stats` is marked
   * partial if the pod's latest measurement is partial, or if the pod was not measured since `sinceMs`.
   */
  atPeakUse(pods: readonly Pod[], resource: Resource, sinceMs: number): Candidate[] {
    const nowMs = performance.now();
    const recent = this.#measurements.filter(({ atMs }) => nowMs - atMs < EVICTION_RECENT_MS);
    const current = recent.filter(({ atMs }) => atMs >= sinceMs);
    return pods.map((pod) => {
      const stats = byUse(pod, recent, resource).at(-1);
      const { isPartial = false } = measuredOf(pod, current, resource).at(-1) ?? { isPartial: true };
      return { pod, stats: stats && { ...stats, isPartial }, latest: completeOf(pod, recent, resource).at(-1) };
    });
  }

  /**
   * The pod whose usage varied most across the measurements. `undefined` if its variation is too small to have caused the shortage, or if
   * the variation of all pods accounts for less than half of `freed`, so that the host freed the rest.
   */
  mostUnsteady(pods: readonly Pod[], shortage: Shortage, freed: bigint): Candidate | undefined {
    const changes = pods.flatMap((pod) => {
      const measured = byUse(pod, this.#measurements, shortage);
      // a partial measurement may lack any part, so it is no minimum
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

/** The pod's complete measurements in ascending order of usage; equal ones oldest first. */
function byUse(pod: Pod, measurements: readonly Measurement[], resource: Resource): PodStatsByDisk[] {
  const complete = completeOf(pod, measurements, resource);
  return complete.toSorted((a, b) => Number(useOf(a, resource) - useOf(b, resource)));
}

/**
 * The measurements that include all disks and volumes that count for the resource. Measurements for memory lack disks, and measurements
 * during the first walk through a volume lack that volume.
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

const volumeCount = ({ volume }: PodStatsByDisk) => volume?.length ?? 0;
