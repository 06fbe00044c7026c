/** Ranks pods for eviction, like upstream's ranking functions (eviction/helpers.go). Pure. */
import { type FileUse, sumOfUses } from '@podwright/host';
import {
  containersAmount,
  hasPodLevelResources,
  type Pod,
  parseQuantity,
  podLevelAmount,
  podPriority,
} from '@podwright/kube-api';
import { type DiskLayout, isOfDisk, resourceOf, type Signal } from '@podwright/kubelet-configuration';
import type { PodStatsByDisk } from '../stats/pod-stats.ts';

/**
 * A candidate for eviction. `stats` is absent if the pod has not been measured. `latest`: the pod's most recent measurement, set if `stats`
 * is an older one.
 */
export type Candidate = { pod: Pod; stats?: PodStatsByDisk; latest?: PodStatsByDisk };

type Measured = Candidate & { stats: PodStatsByDisk };

type Compare = (a: Measured, b: Measured) => number;

/**
 * The resource that an eviction signal is about. The disk layout determines which parts of a pod's usage are on the signal's file system.
 */
export type Resource = { signal: Signal; layout: DiskLayout };

/**
 * A shortage of a resource. `missing`: how far the available amount is below the threshold, in bytes, inodes or processes. `used`: the
 * amount in use.
 */
export type Shortage = Resource & { missing: bigint; used: bigint };

/**
 * Sorts pods into eviction order. Pods of equal rank keep their relative order. Upstream evicts unmeasured pods first; here they come after
 * the last pod that exceeds its request and uses at least the missing amount, because such a pod explains the shortage.
 */
export function rankPods(candidates: readonly Candidate[], shortage: Shortage): Candidate[] {
  const use = assumedUse(candidates, shortage);
  const over = excessOf(shortage, use);
  const measured = inOrder(candidates.filter(isMeasured), orderOf(shortage, use));
  const unmeasured = inOrder(
    candidates.filter((one) => !isMeasured(one)),
    [byPriority],
  );
  const place = measured.findLastIndex((one) => over(one) > 0n && use(one) >= shortage.missing) + 1;
  return [...measured.slice(0, place), ...unmeasured, ...measured.slice(place)];
}

function inOrder<T>(all: readonly T[], order: readonly ((a: T, b: T) => number)[]): T[] {
  return all.toSorted((a, b) => {
    for (const compare of order) {
      const result = compare(a, b);
      if (result !== 0) return result;
    }
    return 0;
  });
}

/**
 * Whether the pods' known usage accounts for the missing disk space. Always true for memory and PIDs. Assumed usage of partly measured or
 * unmeasured pods does not count, because the host may be using that space instead.
 */
export function isExplained(candidates: readonly Candidate[], shortage: Shortage): boolean {
  if (!isOfDisk(shortage.signal)) return true;
  const known = candidates.flatMap(({ stats }) => stats ?? []);
  return known.reduce((sum, stats) => sum + useOf(stats, shortage), 0n) >= shortage.missing;
}

/**
 * Whether the highest-ranked evictable pod ranks first only because it was partly measured and is assumed to use more, rather than by its
 * known usage.
 */
export function isFirstByAssumption(candidates: readonly Candidate[], shortage: Shortage): boolean {
  const known = candidates.map(({ stats, ...one }) => ({ ...one, stats: stats && { ...stats, isPartial: false } }));
  const [first] = rankPods(candidates, shortage);
  return first?.pod !== rankPods(known, shortage)[0]?.pod;
}

/** Whether any part of a pod's usage is on the signal's file system. */
export const hasUse = ({ signal, layout }: Resource): boolean => diskParts(signal, layout).length > 0;

/**
 * Returns the pod's usage of the scarce resource, in bytes, inodes or processes. Unlike in upstream, this includes files of its claims on
 * the disk, so that a pod that fills the disk through a claim is evicted.
 */
export function useOf(stats: PodStatsByDisk, resource: Resource): bigint {
  const { claims } = stats.disks ?? {};
  const ofClaims = claims === undefined || !isOfClaims(resource) ? [] : [claims];
  return ownUseOf(stats, resource) + amountOf(resource, ofClaims);
}

/** Returns the usage that evicting the pod would free: `useOf` minus the files of claims, which outlive the pod. */
export function ownUseOf(stats: PodStatsByDisk, resource: Resource): bigint {
  const { signal, layout } = resource;
  const name = resourceOf(signal);
  if (name === 'pids') return BigInt(stats.process_stats?.process_count ?? 0);
  if (name === 'memory') return BigInt(stats.memory?.workingSetBytes ?? 0);
  const { disks } = stats;
  return amountOf(resource, disks === undefined ? [] : diskParts(signal, layout).map((part) => disks[part]));
}

function amountOf({ signal }: Resource, uses: FileUse[]): bigint {
  const used = sumOfUses(uses);
  return BigInt(resourceOf(signal) === 'inodes' ? used.inodes : used.bytes);
}

/** Whether the signal is for the kubelet's file system, which also contains the files of claims. */
const isOfClaims = ({ signal, layout }: Resource): boolean =>
  isOfDisk(signal) && diskParts(signal, layout).includes('kubelet');

/**
 * Returns the usage by which each candidate is ranked. If a pod's deleted files could not all be counted, it is also charged with all disk
 * usage that the pods' latest measurements do not account for, so that it gains nothing by holding more deleted files open than can be
 * counted. Upstream does not count deleted files at all.
 */
function assumedUse(candidates: readonly Candidate[], shortage: Shortage): (one: Measured) => bigint {
  if (!isOfDisk(shortage.signal)) return ({ stats }) => useOf(stats, shortage);
  const latestOf = ({ stats, latest = stats }: Candidate) => (latest === undefined ? 0n : useOf(latest, shortage));
  const unexplained = shortage.used - candidates.reduce((sum, one) => sum + latestOf(one), 0n);
  return (one) => {
    const peak = useOf(one.stats, shortage);
    const assumed = one.stats.isPartial ? latestOf(one) + unexplained : 0n;
    return assumed > peak ? assumed : peak;
  };
}

function orderOf(shortage: Shortage, use: (one: Measured) => bigint): Compare[] {
  const resource = resourceOf(shortage.signal);
  if (resource === 'pids') return [byPriority, mostFirst(use)];
  const over = excessOf(shortage, use);
  if (resource === 'memory') return [excessFirst(over), byPriority, mostFirst(over)];
  // not in upstream: evicting a pod that uses less than the missing amount would not end the shortage
  const accountsFirst = excessFirst((one) => use(one) - shortage.missing + 1n);
  // as in upstream, the ephemeral-storage request (in bytes) is subtracted even from an inode count
  const most = mostFirst((one) => use(one) - requestOf(one.pod, 'ephemeral-storage'));
  return [excessFirst(over), accountsFirst, byPriority, most];
}

/** Returns by how much a pod exceeds its request. Processes and inodes have no requests. */
function excessOf({ signal }: Shortage, use: (one: Measured) => bigint): (one: Measured) => bigint {
  const resource = resourceOf(signal);
  if (resource === 'pids' || resource === 'inodes') return use;
  return (one) => use(one) - requestOf(one.pod, resource);
}

/** Returns the parts of a pod's disk usage that are on the signal's file system. Images are not attributed to pods. */
function diskParts(signal: Signal, layout: DiskLayout): ('layers' | 'kubelet')[] {
  if (layout === 'shared') return ['layers', 'kubelet'];
  if (layout === 'split') return signal.startsWith('imagefs.') ? [] : ['layers', 'kubelet'];
  return signal.startsWith('nodefs.') ? ['kubelet'] : ['layers'];
}

const byPriority = (a: Candidate, b: Candidate) => Math.sign(podPriority(a.pod) - podPriority(b.pod));

function excessFirst(excess: (one: Measured) => bigint): Compare {
  return (a, b) => Number(excess(b) > 0n) - Number(excess(a) > 0n);
}

function mostFirst(amount: (one: Measured) => bigint): Compare {
  return (a, b) => {
    const difference = amount(b) - amount(a);
    return difference > 0n ? 1 : difference < 0n ? -1 : 0;
  };
}

const isMeasured = (one: Candidate): one is Measured => one.stats !== undefined;

/** Returns the pod's request in bytes, rounded down. Includes the overhead unless the request is zero (GetResourceRequestQuantity). */
function requestOf({ spec }: Pod, name: 'memory' | 'ephemeral-storage'): bigint {
  const nanos = hasPodLevelResources(spec)
    ? (podLevelAmount(spec, 'requests', name) ?? 0n)
    : containersAmount(spec, 'requests', name);
  const overhead = spec.overhead?.[name];
  const sum = nanos === 0n || overhead === undefined ? nanos : nanos + parseQuantity(overhead).nanos;
  return sum / 1_000_000_000n;
}
