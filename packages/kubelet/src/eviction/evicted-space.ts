/** Determines whether the disk space of evicted pods has been freed, which file systems and container runtimes do in the background. */
import type { Pod } from '@podwright/kube-api';
import { isOfDisk, type Observations, type Signal, thresholdsMet } from '@podwright/kubelet-configuration';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';
import type { NodeDisks } from './node-thresholds.ts';
import { type Candidate, hasUse, ownUseOf, type Resource, useOf } from './rank-pods.ts';
import { isUncertain } from './recent-use.ts';

/**
 * Percentage of the evicted pods' measured usage that must have been freed for all of it to count as freed. Less than 100, because usage
 * changes after it was measured.
 */
const EVICTED_SPACE_PERCENT = 90n;

/** An eviction round and the pods that were active after it. `useIn` returns pods' usage in that round. */
type EvictingRound = {
  disks: NodeDisks;
  observations: Observations;
  active: readonly Pod[];
  useIn: (pods: readonly Pod[], resource: Resource) => Candidate[];
};

/** A disk that was short of space or inodes when pods were evicted: the available amount and the pods' usage at that time. */
export type ShortDisk = { resource: Resource; available: bigint; evicted: Candidate[]; others: Candidate[] };

/**
 * Current observations of the disks, by eviction signal, and the current usage of the pods that were not evicted; if `otherUse` is unset,
 * that usage is assumed to be unchanged since the eviction. `isUnknownFreed`: whether space counts as freed if its size is partly unknown.
 */
export type SpaceCheck = {
  signals: readonly Signal[];
  observations: Observations;
  otherUse?: readonly PodStatsByDisk[];
  isUnknownFreed: boolean;
};

/** The disk space and inodes that evicting pods is expected to free. */
export class EvictedSpace {
  /** The disks that were short, by eviction signal. `available` is updated to the lowest amount seen since the eviction. */
  readonly #disks: ReadonlyMap<Signal, ShortDisk>;

  constructor(disks: readonly ShortDisk[]) {
    this.#disks = new Map(disks.map((one) => [one.resource.signal, { ...one }]));
  }

  /** Whether a disk was short of space or inodes when the pods were evicted. */
  get isOnDisk(): boolean {
    return this.#disks.size > 0;
  }

  /** Whether the evicted pods' usage is known completely for every disk that the given signals measure. */
  isKnown(signals: readonly Signal[]): boolean {
    return signals.every((signal) => {
      const disk = this.#disks.get(signal);
      return disk === undefined || expectedOf(disk) !== undefined;
    });
  }

  /**
   * Whether the evicted pods' space on the given signals' disks is free, or has been taken by other pods. Returns `isUnknownFreed` if an
   * evicted pod's usage of a disk is not fully known, or if less space has become free than the evicted pods used, but another pod whose
   * growth is not fully known may have taken the rest.
   */
  isFreed({ signals, observations, otherUse, isUnknownFreed }: SpaceCheck): boolean {
    return signals.every((signal) => {
      const disk = this.#disks.get(signal);
      const available = observations.get(signal)?.available;
      if (disk === undefined || available === undefined) return true;
      if (available < disk.available) disk.available = available;
      const expected = expectedOf(disk);
      if (expected === undefined) return isUnknownFreed;
      const { least, isKnown } = otherUse === undefined ? NO_GROWTH : growth(disk, otherUse);
      if (available - disk.available + least >= (expected * EVICTED_SPACE_PERCENT) / 100n) return true;
      return !isKnown && isUnknownFreed;
    });
  }
}

/** Returns the amounts that the evicted pods are expected to free on each disk that was short in their eviction round. */
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

/** Returns the usage of the evicted pods together; `undefined` if it is not fully known. */
function expectedOf({ evicted, resource }: ShortDisk): bigint | undefined {
  if (!hasUse(resource)) return 0n;
  if (evicted.some(({ stats }) => stats === undefined || stats.isPartial)) return undefined;
  return evicted.reduce((sum, { stats, latest = stats }) => sum + ownUseOf(latest!, resource), 0n);
}

type Growth = { least: bigint; isKnown: boolean };

const NO_GROWTH: Growth = { least: 0n, isKnown: true };

/**
 * Returns a lower bound of the growth in the other pods' usage since the eviction. A partial current measurement still yields a lower
 * bound; if the earlier one was partial, the growth is unknown.
 */
function growth({ others, resource }: ShortDisk, now: readonly PodStatsByDisk[]): Growth {
  const byUid = new Map(now.map((one) => [one.podRef.uid, one]));
  const all = others.map(({ pod, stats, latest = stats }): Growth => {
    const later = byUid.get(pod.metadata.uid);
    if (later === undefined || latest === undefined || isUncertain(latest)) return { least: 0n, isKnown: false };
    const least = useOf(later, resource) - useOf(latest, resource);
    if (!isUncertain(later)) return { least, isKnown: true };
    return { least: least > 0n ? least : 0n, isKnown: false };
  });
  return {
    least: all.reduce((sum, { least }) => sum + least, 0n),
    isKnown: all.every(({ isKnown }) => isKnown),
  };
}
