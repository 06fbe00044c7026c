/** Judges whether evicted pods' space on disks has been freed, which file systems and container runtimes do in the background. */
import type { Pod } from '@podwright/kube-api';
import { isOfDisk, type Signal } from '@podwright/kubelet-configuration';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';
import type { NodeDisks } from './node-thresholds.ts';
import { type Observations, thresholdsMet } from './observed-signals.ts';
import { type Candidate, hasUse, type Resource, useOf } from './rank-pods.ts';

/** Percentage of the evicted pods' use that counts as all of it, because the pods' use changes after it was measured. */
const EVICTED_SPACE_PERCENT = 90n;

/** A round that evicted pods, and the active pods after it. `useIn` returns the pods' use in that round. */
type EvictingRound = {
  disks: NodeDisks;
  observations: Observations;
  active: readonly Pod[];
  useIn: (pods: readonly Pod[], resource: Resource) => Candidate[];
};

/** A disk that was short when pods were evicted: what was available, and the pods' use at that time. */
export type ShortDisk = { resource: Resource; available: bigint; evicted: Candidate[]; others: Candidate[] };

/** Current observations of the disks of the given signals, and the other pods' current use, if it was measured. */
export type SpaceCheck = {
  signals: readonly Signal[];
  observations: Observations;
  otherUse: readonly PodStatsByDisk[];
  isUnknownFreed: boolean;
};

/** The disk space and inodes that evicted pods are expected to free. */
export class EvictedSpace {
  /** `available` is the least amount since the eviction. */
  readonly #disks: ReadonlyMap<Signal, ShortDisk>;

  constructor(disks: readonly ShortDisk[]) {
    this.#disks = new Map(disks.map((one) => [one.resource.signal, { ...one }]));
  }

  /** Whether a disk was short when the pods were evicted. */
  get isOnDisk(): boolean {
    return this.#disks.size > 0;
  }

  /** Whether the evicted pods' use of the disks of the given signals is fully known. */
  isKnown(signals: readonly Signal[]): boolean {
    return signals.every((signal) => {
      const disk = this.#disks.get(signal);
      return disk === undefined || expectedOf(disk) !== undefined;
    });
  }

  /**
   * Whether the evicted pods' space on the disks of the given signals is free, or in use by other pods according to their current
   * `otherUse`. `isUnknownFreed`: the result for disks of which an evicted pod's use is not fully known.
   */
  isFreed({ signals, observations, otherUse, isUnknownFreed }: SpaceCheck): boolean {
    return signals.every((signal) => {
      const disk = this.#disks.get(signal);
      const available = observations.get(signal)?.available;
      if (disk === undefined || available === undefined) return true;
      if (available < disk.available) disk.available = available;
      const expected = expectedOf(disk);
      if (expected === undefined) return isUnknownFreed;
      return available - disk.available + growth(disk, otherUse) >= (expected * EVICTED_SPACE_PERCENT) / 100n;
    });
  }
}

/** Returns what the evicted pods are expected to free on the disks that were short in their round. */
export function evictedSpace(
  evicted: readonly Pod[],
  { disks, observations, active, useIn }: EvictingRound,
): EvictedSpace {
  const uids = new Set(evicted.map(({ metadata }) => metadata.uid));
  const others = active.filter(({ metadata }) => !uids.has(metadata.uid));
  const short = thresholdsMet(disks.thresholds, observations, { withReclaim: false });
  const shortDisks = short
    .filter(({ signal }) => isOfDisk(signal))
    .map(({ signal }) => {
      const resource = { signal, layout: disks.layout };
      const { available } = observations.get(signal)!;
      return { resource, available, evicted: useIn(evicted, resource), others: useIn(others, resource) };
    });
  return new EvictedSpace(shortDisks);
}

/** The use of the evicted pods; `undefined` if it is not fully known. */
function expectedOf({ evicted, resource }: ShortDisk): bigint | undefined {
  if (!hasUse(resource)) return 0n;
  if (evicted.some(({ stats }) => stats === undefined || stats.isPartial)) return undefined;
  return evicted.reduce((sum, { stats, latest = stats }) => sum + useOf(latest!, resource), 0n);
}

/** By how much the other pods' use has grown since the eviction. */
function growth({ others, resource }: ShortDisk, now: readonly PodStatsByDisk[]): bigint {
  const byUid = new Map(now.map((one) => [one.podRef.uid, one]));
  return others.reduce((sum, { pod, stats, latest = stats }) => {
    const later = byUid.get(pod.metadata.uid);
    if (later === undefined || later.isPartial || latest === undefined || latest.isPartial) return sum;
    return sum + useOf(later, resource) - useOf(latest, resource);
  }, 0n);
}
