import { invalid, type LinuxContainerResources, numberWithin } from '@podwright/cri';
import type { ContainerResources } from '../../records/container-record.ts';

/** Range of CPU periods accepted by the kernel, in microseconds (cgroups-v1 and -v2, sched-bwc.rst). */
const CPU_PERIOD = { minimum: 1000, maximum: 1_000_000 };
const MINIMUM_CPU_QUOTA = 1000;
/**
 * Memory limits at or above this value mean unlimited. For an unlimited cgroup, cgroup v1 reports the largest multiple of the page size
 * below 2⁶³, which is at least this value for any page size. Upstream's kubelet reads that number from the cgroup and passes it on when it
 * resizes a pod.
 */
const UNLIMITED_MEMORY = (1n << 63n) - (1n << 20n);
/** The cpuset(7) list format: numbers and ranges. */
const LIST_PATTERN = /^\d+(-\d+(:\d+\/\d+)?)?(,\d+(-\d+(:\d+\/\d+)?)?)*$/;
const PAGE_SIZE_PATTERN = /^\d+[KMG]B$/;
/**
 * Name of a cgroup controller's interface file (cgroup-v2.rst). Excludes paths, which could escape the container's cgroup, and files such
 * as `cgroup.procs`, which move or kill processes.
 */
const UNIFIED_PATTERN = /^(cpu|cpuset|io|memory|pids|hugetlb|rdma|misc|dmem)(\.\w+)+$/;

/**
 * Converts and validates the CRI's container resources. 0 and '' mean unset. Throws `invalid_argument` for values that no kernel accepts.
 */
export function containerResources(resources: LinuxContainerResources | undefined): ContainerResources {
  const memoryLimitBytes = limitOfMemory('memoryLimitInBytes', resources?.memoryLimitInBytes);
  return {
    cpuPeriod: cpuPeriod(resources?.cpuPeriod),
    cpuQuota: cpuQuota(resources?.cpuQuota),
    cpuShares: numberWithin('cpuShares', resources?.cpuShares, { minimum: 0 }),
    memoryLimitBytes,
    memorySwapLimitBytes: swapLimit(resources?.memorySwapLimitInBytes, memoryLimitBytes),
    oomScoreAdj: numberWithin('oomScoreAdj', resources?.oomScoreAdj, { minimum: -1000, maximum: 1000 }),
    cpusetCpus: matching('cpusetCpus', resources?.cpusetCpus ?? '', LIST_PATTERN),
    cpusetMems: matching('cpusetMems', resources?.cpusetMems ?? '', LIST_PATTERN),
    hugepageLimits: (resources?.hugepageLimits ?? []).map(({ pageSize, limit }) => ({
      pageSize: pageSizeOf(pageSize),
      limitBytes: numberWithin('hugepageLimits.limit', limit, { minimum: 0 }),
    })),
    unified: unifiedOf(resources?.unified ?? {}),
  };
}

/** Returns the memory limit in bytes; -1 means unlimited. */
function limitOfMemory(field: string, value: bigint | undefined): number {
  return value !== undefined && value >= UNLIMITED_MEMORY ? -1 : numberWithin(field, value, { minimum: -1 });
}

function cpuPeriod(value: bigint | undefined): number {
  return value === undefined || value === 0n ? 0 : numberWithin('cpuPeriod', value, CPU_PERIOD);
}

function cpuQuota(value: bigint | undefined): number {
  if (value === undefined || value === 0n || value === -1n) return Number(value ?? 0);
  return numberWithin('cpuQuota', value, { minimum: MINIMUM_CPU_QUOTA });
}

/** Returns the memory+swap limit in bytes; -1 means unlimited. */
function swapLimit(value: bigint | undefined, memoryLimit: number): number {
  const limit = limitOfMemory('memorySwapLimitInBytes', value);
  if (limit <= 0 || limit >= memoryLimit) return limit;
  throw invalid(`memorySwapLimitInBytes ${limit} is less than memoryLimitInBytes ${memoryLimit}, which it includes`);
}

function unifiedOf(unified: Record<string, string>): Record<string, string> {
  for (const [key, value] of Object.entries(unified)) {
    if (!UNIFIED_PATTERN.test(key))
      throw invalid(`unified: ${JSON.stringify(key)} is not a file of a cgroup controller, such as memory.high`);
    if (value.includes('\0')) throw invalid(`unified.${key} has a zero byte`);
  }
  return unified;
}

function pageSizeOf(text: string): string {
  if (PAGE_SIZE_PATTERN.test(text)) return text;
  throw invalid(`hugepageLimits.pageSize "${text}" is malformed`);
}

function matching(field: string, text: string, pattern: RegExp): string {
  if (text === '' || pattern.test(text)) return text;
  throw invalid(`${field} ${JSON.stringify(text)} is malformed`);
}
