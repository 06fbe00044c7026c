import { join } from 'node:path';
import { type CgroupHierarchy, cgroupDirectory, readCgroupFileSync, treeOf } from './hierarchy.ts';
import { bounded, keyed, type StatsFiles, statsFilesOf } from './stats-files.ts';

export type MemoryStats = {
  usageBytes: number;
  /** Highest memory usage so far; absent if the kernel does not record it (v2 before Linux 5.19). */
  peakBytes: number | undefined;
  /** Usage minus inactive file cache, the value that the kubelet's eviction decisions are based on. */
  workingSetBytes: number;
  /** Usage of anonymous memory. */
  rssBytes: number;
  cacheBytes: number;
  mappedFileBytes: number;
  activeFileBytes: number;
  inactiveFileBytes: number;
  /** Kernel memory charged to the cgroup: stacks, page tables, slabs. */
  kernelBytes: number;
  swapBytes: number;
  limitBytes: number | undefined;
  /** Swap limit, not including memory; `undefined` if unlimited. */
  swapLimitBytes: number | undefined;
  /** Number of times usage hit the limit (v1's `failcnt`, v2's `max` event). */
  limitHits: number;
  /** Number of processes killed by the OOM killer. */
  oomKills: number;
  pageFaults: number;
  majorPageFaults: number;
};

/** Reads memory usage from the v1 memory controller (its hierarchical `total_` values) or from the v2 one. */
export function readMemoryStats(hierarchy: CgroupHierarchy, path: string): MemoryStats | undefined {
  const files = statsFilesOf(hierarchy, path, 'memory');
  return files?.version === 2 ? readV2(files) : files && readV1(files);
}

function readV1({ read, readNumber }: StatsFiles): MemoryStats | undefined {
  const names = ['usage_in_bytes', 'limit_in_bytes', 'memsw.usage_in_bytes', 'memsw.limit_in_bytes'];
  const more = ['max_usage_in_bytes', 'kmem.usage_in_bytes', 'failcnt'];
  const [usage, limit, both, bothLimit, peak, kernel, hits] = [...names, ...more].map((name) =>
    readNumber(`memory.${name}`),
  );
  if (usage === undefined) return undefined;
  const stat = keyed(read('memory.stat'));
  const [limitBytes, bothLimitBytes] = [bounded(limit), bounded(bothLimit)];
  return {
    usageBytes: usage,
    peakBytes: peak,
    workingSetBytes: Math.max(0, usage - (stat.total_inactive_file ?? 0)),
    rssBytes: stat.total_rss ?? 0,
    cacheBytes: stat.total_cache ?? 0,
    mappedFileBytes: stat.total_mapped_file ?? 0,
    activeFileBytes: stat.total_active_file ?? 0,
    inactiveFileBytes: stat.total_inactive_file ?? 0,
    kernelBytes: kernel ?? 0,
    swapBytes: both === undefined ? 0 : Math.max(0, both - usage),
    limitBytes,
    swapLimitBytes: bothLimitBytes === undefined ? undefined : Math.max(0, bothLimitBytes - (limitBytes ?? 0)),
    limitHits: hits ?? 0,
    oomKills: keyed(read('memory.oom_control')).oom_kill ?? 0,
    pageFaults: stat.total_pgfault ?? 0,
    majorPageFaults: stat.total_pgmajfault ?? 0,
  };
}

function readV2({ read, readNumber }: StatsFiles): MemoryStats | undefined {
  const names = ['current', 'max', 'peak', 'swap.current', 'swap.max'];
  const [usage, limit, peak, swap, swapLimit] = names.map((name) => readNumber(`memory.${name}`));
  const [stat, events] = [keyed(read('memory.stat')), keyed(read('memory.events'))];
  // the root cgroup has no memory.current; anonymous memory plus page cache is a close approximation
  const used = usage ?? (stat.anon === undefined ? undefined : stat.anon + (stat.file ?? 0));
  if (used === undefined) return undefined;
  return {
    usageBytes: used,
    peakBytes: peak,
    workingSetBytes: Math.max(0, used - (stat.inactive_file ?? 0)),
    rssBytes: stat.anon ?? 0,
    cacheBytes: stat.file ?? 0,
    mappedFileBytes: stat.file_mapped ?? 0,
    activeFileBytes: stat.active_file ?? 0,
    inactiveFileBytes: stat.inactive_file ?? 0,
    kernelBytes: kernelBytesOf(stat),
    swapBytes: swap ?? 0,
    limitBytes: bounded(limit),
    swapLimitBytes: swapLimit,
    limitHits: events.max ?? 0,
    oomKills: events.oom_kill ?? 0,
    pageFaults: stat.pgfault ?? 0,
    majorPageFaults: stat.pgmajfault ?? 0,
  };
}

/** Returns the kernel memory usage. Linux 5.18 and later report the sum; older kernels report only its parts. */
function kernelBytesOf(stat: Record<string, number | undefined>): number {
  return stat.kernel ?? (stat.kernel_stack ?? 0) + (stat.pagetables ?? 0) + (stat.percpu ?? 0) + (stat.slab ?? 0);
}

/** Returns the number of the cgroup's processes that the OOM killer has killed; 0 if the cgroup or the counter does not exist. */
export function readOomKills(hierarchy: CgroupHierarchy, path: string): number {
  const tree = treeOf(hierarchy, 'memory');
  if (tree === undefined) return 0;
  const name = tree.version === 1 ? 'memory.oom_control' : 'memory.events';
  const text = readCgroupFileSync(join(cgroupDirectory(tree, path), name));
  return Number(/^oom_kill (\d+)$/m.exec(text ?? '')?.[1] ?? 0);
}
