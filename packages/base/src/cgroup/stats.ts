import { type CpuStats, readCpuStats } from './cpu-stats.ts';
import type { CgroupHierarchy } from './hierarchy.ts';
import { type DeviceIo, type HugepageStats, readHugepages, readIo } from './io-stats.ts';
import { type MemoryStats, readMemoryStats } from './memory-stats.ts';
import { type CgroupPressure, readPressure } from './pressure.ts';
import { statsFilesOf } from './stats-files.ts';
import { countCgroupProcesses } from './tree.ts';

/** What a cgroup with all below it uses, the same from v1, v2 and hybrid hosts. Parts that the host does not count are absent. */
export type CgroupStats = {
  readAtMs: number;
  cpu?: CpuStats;
  memory?: MemoryStats;
  /** Tasks as the kernel counts them: every thread is one. `limit` is absent for none. */
  threads?: { current: number; limit: number | undefined };
  processes?: number;
  /** Input and output on block devices that the cgroup has used. */
  io?: DeviceIo[];
  /** By page size, `2MB` for instance. */
  hugepages?: Record<string, HugepageStats>;
  pressure?: CgroupPressure;
};

/** CPU, memory and pressure alone, whose cost does not grow with what is below the cgroup. */
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

/** Reads a cgroup's use. A cgroup that is gone gives a value without parts. */
export function readCgroupStats(hierarchy: CgroupHierarchy, path: string): CgroupStats {
  const use = readCgroupUse(hierarchy, path);
  const threads = readThreads(hierarchy, path);
  const there = [use.cpu, use.memory, threads].some((part) => part !== undefined);
  return {
    ...use,
    threads,
    processes: there ? countCgroupProcesses(hierarchy, path) : undefined,
    io: readIo(hierarchy, path),
    hugepages: readHugepages(hierarchy, path),
  };
}

function readThreads(hierarchy: CgroupHierarchy, path: string): CgroupStats['threads'] {
  const files = statsFilesOf(hierarchy, path, 'pids');
  const current = files?.readNumber('pids.current');
  return current === undefined ? undefined : { current, limit: files?.readNumber('pids.max') };
}
