/** Judges whether evicted pods' space on disks has been freed, which file systems and container runtimes do in the background. */
import type { Signal } from '@podwright/kubelet-configuration';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';
import type { Observations } from './observed-signals.ts';
import { type Candidate, hasUse, type Resource, useOf } from './rank-pods.ts';

/** Percentage of the evicted pods' use that counts as all of it, because the pods' use changes after it was measured. */
const EVICTED_SPACE_PERCENT = 90n;

/** A disk that was short when pods were evicted: what was available, and the pods' use at that time. */
export type ShortDisk = { resource: Resource; available: bigint; evicted: Candidate[]; others: Candidate[] };

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

  /**
   * Whether the evicted pods' space on the disks of the given signals is free, or in use by other pods according to `now`. Never true for a
   * pod of unknown use.
   */
  isFreed(signals: readonly Signal[], observations: Observations, now: readonly PodStatsByDisk[]): boolean {
    return signals.every((signal) => {
      const disk = this.#disks.get(signal);
      const available = observations.get(signal)?.available;
      if (disk === undefined || available === undefined) return true;
      if (available < disk.available) disk.available = available;
      const expected = expectedOf(disk);
      if (expected === undefined) return false;
      return available - disk.available + growth(disk, now) >= (expected * EVICTED_SPACE_PERCENT) / 100n;
    });
  }
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
