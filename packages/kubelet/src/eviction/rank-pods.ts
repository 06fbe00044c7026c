/** In which order pods are evicted, as upstream's ranking functions have it (eviction/helpers.go). Pure. */
import { containersAmount, hasPodLevelResources, podLevelAmount } from '../api/pod-amounts.ts';
import { podPriority } from '../api/pod-priority.ts';
import { parseQuantity } from '../api/quantity.ts';
import type { Pod } from '../api/types.ts';
import { sumOf } from '../stats/file-system-use.ts';
import type { PodDiskUse, PodStatsByDisk } from '../stats/pod-stats.ts';
import type { PodStats } from '../stats/summary.ts';
import type { DiskLayout } from './thresholds/disk-layout.ts';
import { resourceOf, type Signal } from './thresholds/signals.ts';

/** `stats` are absent for a pod of which nothing is known: it goes before the others. */
export type Candidate = { pod: Pod; stats?: PodStatsByDisk };

type Compare = (a: Candidate, b: Candidate) => number;

/** The first of these is evicted first; of those that nothing tells apart the order stays. */
export function rankPods(candidates: readonly Candidate[], signal: Signal, layout: DiskLayout): Candidate[] {
  const order = orderOf(signal, layout);
  return candidates.toSorted((a, b) => {
    for (const compare of order) {
      const result = compare(a, b);
      if (result !== 0) return result;
    }
    return 0;
  });
}

function orderOf(signal: Signal, layout: DiskLayout): Compare[] {
  const resource = resourceOf(signal);
  if (resource === 'pids') return [byPriority, mostFirst(processes)];
  if (resource === 'memory') {
    const over = ({ pod, stats }: Known) => memoryUse(stats) - requestOf(pod, 'memory');
    return [excessFirst(over), byPriority, mostFirst(over)];
  }
  const parts = diskParts(signal, layout);
  const use = ({ stats: { disks } }: Known) => {
    const used = sumOf(disks === undefined ? [] : parts.map((part) => disks[part]));
    return BigInt(resource === 'inodes' ? used.inodes : used.bytes);
  };
  // what files take in number is compared less the bytes that are asked for, as upstream's
  const storage = ({ pod }: Known) => requestOf(pod, 'ephemeral-storage');
  const exceeded = (one: Known) => use(one) - (resource === 'inodes' ? 0n : storage(one));
  return [excessFirst(exceeded), byPriority, mostFirst((one) => use(one) - storage(one))];
}

/** What of pods is on the file system that is short; images are nobody's. */
function diskParts(signal: Signal, layout: DiskLayout): (keyof PodDiskUse)[] {
  if (layout === 'shared') return ['layers', 'kubelet'];
  if (layout === 'split') return signal.startsWith('imagefs.') ? [] : ['layers', 'kubelet'];
  return signal.startsWith('nodefs.') ? ['kubelet'] : ['layers'];
}

type Known = Required<Candidate>;

const byPriority: Compare = (a, b) => Math.sign(podPriority(a.pod) - podPriority(b.pod));

/** Pods that use more than they ask for, before the others. */
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
  return ({ pod: a, stats: ofA }, { pod: b, stats: ofB }) =>
    ofA === undefined || ofB === undefined
      ? Number(ofB === undefined) - Number(ofA === undefined)
      : compare({ pod: a, stats: ofA }, { pod: b, stats: ofB });
}

const processes = ({ stats }: Known) => BigInt(stats.process_stats?.process_count ?? 0);
const memoryUse = ({ memory }: PodStats) => BigInt(memory?.workingSetBytes ?? 0);

/** In bytes, rounded down, with the overhead of a pod that asks for anything (GetResourceRequestQuantity). */
function requestOf({ spec }: Pod, name: 'memory' | 'ephemeral-storage'): bigint {
  const nanos = hasPodLevelResources(spec)
    ? (podLevelAmount(spec, 'requests', name) ?? 0n)
    : containersAmount(spec, 'requests', name);
  const overhead = spec.overhead?.[name];
  const sum = nanos === 0n || overhead === undefined ? nanos : nanos + parseQuantity(overhead).nanos;
  return sum / 1_000_000_000n;
}
