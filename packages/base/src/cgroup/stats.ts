import { type CpuStats, readCpuStats } from './cpu-stats.ts';
import type { CgroupHierarchy } from './hierarchy.ts';
import { type DeviceIo, type HugepageStats, readHugepages, readIo } from './io-stats.ts';
import { type MemoryStats, readMemoryStats } from './memory-stats.ts';
import { type CgroupPressure, readPressure } from './pressure.ts';
import { statsFilesOf } from './stats-files.ts';
import { cgroupPids } from './tree.ts';

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

/** Reads a cgroup's use. A cgroup that is gone gives a value without parts. */
export async function readCgroupStats(hierarchy: CgroupHierarchy, path: string): Promise<CgroupStats> {
  const [cpu, memory, threads, io, hugepages, pressure] = await Promise.all([
    readCpuStats(hierarchy, path),
    readMemoryStats(hierarchy, path),
    readThreads(hierarchy, path),
    readIo(hierarchy, path),
    readHugepages(hierarchy, path),
    readPressure(hierarchy, path),
  ]);
  const there = [cpu, memory, threads].some((part) => part !== undefined);
  const processes = there ? await countProcesses(hierarchy, path) : undefined;
  return { readAtMs: Date.now(), cpu, memory, threads, processes, io, hugepages, pressure };
}

async function readThreads(hierarchy: CgroupHierarchy, path: string): Promise<CgroupStats['threads']> {
  const files = statsFilesOf(hierarchy, path, 'pids');
  const current = await files?.readNumber('pids.current');
  return current === undefined ? undefined : { current, limit: await files?.readNumber('pids.max') };
}

async function countProcesses(hierarchy: CgroupHierarchy, path: string): Promise<number> {
  return (await cgroupPids(hierarchy, path, { recursive: true, controller: 'pids' })).length;
}
