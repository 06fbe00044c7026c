import { type CpuStats, readCpuStats } from './cpu-stats.ts';
import type { CgroupHierarchy } from './hierarchy.ts';
import { type DeviceIo, type HugepageStats, readHugepages, readIo } from './io-stats.ts';
import { type MemoryStats, readMemoryStats } from './memory-stats.ts';
import { type CgroupPressure, readPressure } from './pressure.ts';
import { statsFilesOf } from './stats-files.ts';
import { countCgroupProcesses } from './tree.ts';

/**
 * Resource usage of a cgroup and its descendants, in the same form for v1, v2 and hybrid hosts. Fields that the host has no counters for
 * are absent.
 */
export type CgroupStats = {
  readAtMs: number;
  cpu?: CpuStats;
  memory?: MemoryStats;
  /** Tasks as counted by the kernel's `pids` controller, one per thread. `limit` is `undefined` if unlimited. */
  threads?: { current: number; limit: number | undefined };
  processes?: number;
  /** I/O by block device, for the devices that the cgroup has used. */
  io?: DeviceIo[];
  /** Huge page usage by page size, such as `2MB`. */
  hugepages?: Record<string, HugepageStats>;
  pressure?: CgroupPressure;
};

/** Reads only CPU, memory and pressure statistics. The cost does not depend on the number of descendant cgroups. */
export function readCgroupUse(
  hierarchy: CgroupHierarchy,
  path: string,
): Pick<CgroupStats, 'readAtMs' | 'cpu' | 'memory' | 'pressure'> {
  return {
    readAtMs: Date.now(),
    cpu: readCpuStats(hierarchy, path),
    memory: readMemoryStats(hierarchy, path),
    pressure: readPressure(hierarchy, path),
  };
}

/** Reads all statistics of a cgroup. If the cgroup does not exist, most fields are absent, and `io` and `hugepages` are empty. */
export function readCgroupStats(hierarchy: CgroupHierarchy, path: string): CgroupStats {
  const use = readCgroupUse(hierarchy, path);
  const threads = readThreads(hierarchy, path);
  const exists = [use.cpu, use.memory, threads].some((part) => part !== undefined);
  return {
    ...use,
    threads,
    processes: exists ? countCgroupProcesses(hierarchy, path) : undefined,
    io: readIo(hierarchy, path),
    hugepages: readHugepages(hierarchy, path),
  };
}

function readThreads(hierarchy: CgroupHierarchy, path: string): CgroupStats['threads'] {
  const files = statsFilesOf(hierarchy, path, 'pids');
  const current = files?.readNumber('pids.current');
  return current === undefined ? undefined : { current, limit: files?.readNumber('pids.max') };
}
