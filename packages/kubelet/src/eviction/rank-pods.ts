/** Ranks pods for eviction, like upstream's ranking functions (eviction/helpers.go). Pure. */
import { sumOfUses } from '@podwright/host';
import {
  containersAmount,
  hasPodLevelResources,
  type Pod,
  parseQuantity,
  podLevelAmount,
  podPriority,
} from '@podwright/kube-api';
import { type DiskLayout, isOfDisk, resourceOf, type Signal } from '@podwright/kubelet-configuration';
import type { PodDiskUse, PodStatsByDisk } from '../stats/pod-stats.ts';

/**
 * A pod that may be evicted. A pod without `stats` is evicted first, as in upstream. `latest`: the pod's most recent measurement if `stats`
 * is an older one.
 */
export type Candidate = { pod: Pod; stats?: PodStatsByDisk; latest?: PodStatsByDisk };

type Known = Candidate & { stats: PodStatsByDisk };

type Compare = (a: Candidate, b: Candidate) => number;

/** The resource behind an eviction signal. The disk layout determines which parts of a pod's usage are on the signal's file system. */
export type Resource = { signal: Signal; layout: DiskLayout };

/**
 * A shortage of a resource. `missing`: how far the available amount is below the threshold, in bytes, inodes or processes. `used`: the
 * amount in use.
 */
export type Shortage = Resource & { missing: bigint; used: bigint };

/** Sorts pods into eviction order. Pods of equal rank keep their relative order. */
export function rankPods(candidates: readonly Candidate[], shortage: Shortage): Candidate[] {
  const order = orderOf(shortage, assumedUse(candidates, shortage));
  return candidates.toSorted((a, b) => {
    for (const compare of order) {
      const result = compare(a, b);
      if (result !== 0) return result;
    }
    return 0;
  });
}

/**
 * Whether the pods' known usage accounts for the missing disk space. Always true for memory and PIDs, and if some of the pods have no
 * measurement at all. Usage that is merely assumed for partly measured pods does not count, because the host may be using that space.
 */
export function isExplained(candidates: readonly Candidate[], shortage: Shortage): boolean {
  if (!isOfDisk(shortage.signal)) return true;
  const known = candidates.flatMap(({ stats }) => stats ?? []);
  if (known.length > 0 && known.length < candidates.length) return true;
  return known.reduce((sum, stats) => sum + useOf(stats, shortage), 0n) >= shortage.missing;
}

/**
 * Whether the pod that is ranked first, of those that may be evicted, would not be first by its known usage. It is first only because it
 * was partly measured and is assumed to use more.
 */
export function isFirstByAssumption(candidates: readonly Candidate[], shortage: Shortage): boolean {
  const known = candidates.map(({ stats, ...one }) => ({ ...one, stats: stats && { ...stats, isPartial: false } }));
  const [first] = rankPods(candidates, shortage);
  return first?.pod !== rankPods(known, shortage)[0]?.pod;
}

/** Whether any of a pod's usage is on the file system of a disk's signal. */
export const hasUse = ({ signal, layout }: Resource): boolean => diskParts(signal, layout).length > 0;

/** Returns the pod's usage of the scarce resource, in bytes, inodes or processes. */
export function useOf(stats: PodStatsByDisk, { signal, layout }: Resource): bigint {
  const resource = resourceOf(signal);
  if (resource === 'pids') return BigInt(stats.process_stats?.process_count ?? 0);
  if (resource === 'memory') return BigInt(stats.memory?.workingSetBytes ?? 0);
  const { disks } = stats;
  const used = sumOfUses(disks === undefined ? [] : diskParts(signal, layout).map((part) => disks[part]));
  return BigInt(resource === 'inodes' ? used.inodes : used.bytes);
}

/**
 * Returns the usage by which each candidate is ranked. A pod whose deleted files could not all be counted is also charged with all disk
 * usage that the pods' latest measurements do not account for, so that it gains nothing by holding more deleted files open than can be
 * counted. Upstream does not count deleted files at all.
 */
function assumedUse(candidates: readonly Candidate[], shortage: Shortage): (one: Known) => bigint {
  if (!isOfDisk(shortage.signal)) return ({ stats }) => useOf(stats, shortage);
  const latestOf = ({ stats, latest = stats }: Candidate) => (latest === undefined ? 0n : useOf(latest, shortage));
  const unexplained = shortage.used - candidates.reduce((sum, one) => sum + latestOf(one), 0n);
  return (one) => {
    const peak = useOf(one.stats, shortage);
    const assumed = one.stats.isPartial ? latestOf(one) + unexplained : 0n;
    return assumed > peak ? assumed : peak;
  };
}

function orderOf(shortage: Shortage, use: (one: Known) => bigint): Compare[] {
  const resource = resourceOf(shortage.signal);
  if (resource === 'pids') return [byPriority, mostFirst(use)];
  if (resource === 'memory') {
    const over = (one: Known) => use(one) - requestOf(one.pod, 'memory');
    return [excessFirst(over), byPriority, mostFirst(over)];
  }
  // as in upstream, the last comparison subtracts the ephemeral-storage request, in bytes, even from a number of inodes
  const storage = ({ pod }: Known) => requestOf(pod, 'ephemeral-storage');
  const exceeded = (one: Known) => use(one) - (resource === 'inodes' ? 0n : storage(one));
  // not in upstream: evicting a pod that uses less than what is missing would not end the shortage
  const accountsFirst = excessFirst((one) => use(one) - shortage.missing + 1n);
  return [excessFirst(exceeded), accountsFirst, byPriority, mostFirst((one) => use(one) - storage(one))];
}

/** Returns the parts of a pod's disk usage that are on the signal's file system. Images are not attributed to pods. */
function diskParts(signal: Signal, layout: DiskLayout): (keyof PodDiskUse)[] {
  if (layout === 'shared') return ['layers', 'kubelet'];
  if (layout === 'split') return signal.startsWith('imagefs.') ? [] : ['layers', 'kubelet'];
  return signal.startsWith('nodefs.') ? ['kubelet'] : ['layers'];
}

const byPriority: Compare = (a, b) => Math.sign(podPriority(a.pod) - podPriority(b.pod));

/** Sorts pods with a positive excess first. */
function excessFirst(excess: (one: Known) => bigint): Compare {
  return ifKnown((a, b) => Number(excess(b) > 0n) - Number(excess(a) > 0n));
}

function mostFirst(amount: (one: Known) => bigint): Compare {
  return ifKnown((a, b) => {
    const difference = amount(b) - amount(a);
    return difference > 0n ? 1 : difference < 0n ? -1 : 0;
  });
}

function ifKnown(compare: (a: Known, b: Known) => number): Compare {
  return (a, b) =>
    isKnown(a) && isKnown(b) ? compare(a, b) : Number(b.stats === undefined) - Number(a.stats === undefined);
}

const isKnown = (one: Candidate): one is Known => one.stats !== undefined;

/** The pod's request in bytes, rounded down. Includes the overhead unless the request is zero (GetResourceRequestQuantity). */
function requestOf({ spec }: Pod, name: 'memory' | 'ephemeral-storage'): bigint {
  const nanos = hasPodLevelResources(spec)
    ? (podLevelAmount(spec, 'requests', name) ?? 0n)
    : containersAmount(spec, 'requests', name);
  const overhead = spec.overhead?.[name];
  const sum = nanos === 0n || overhead === undefined ? nanos : nanos + parseQuantity(overhead).nanos;
  return sum / 1_000_000_000n;
}
