import { anyUnpack, timestampMs } from '@bufbuild/protobuf/wkt';
import type { CgroupStats } from '@podwright/host';
import type { Metric } from './gen/containerd/types/metrics_pb.js';
import {
  type Metrics as MetricsV1,
  MetricsSchema as MetricsV1Schema,
} from './gen/io/containerd/cgroups/v1/metrics_pb.js';
import {
  type Metrics as MetricsV2,
  MetricsSchema as MetricsV2Schema,
} from './gen/io/containerd/cgroups/v2/metrics_pb.js';

/**
 * Converts a shim's task or sandbox metrics to cgroup statistics. Returns undefined if they are neither cgroup v1 nor cgroup v2 metrics.
 */
export function statsOfMetric({ timestamp, data }: Metric): CgroupStats | undefined {
  if (data === undefined) return undefined;
  const readAtMs = timestamp === undefined ? Date.now() : timestampMs(timestamp);
  const v1 = anyUnpack(data, MetricsV1Schema);
  if (v1 !== undefined) return { readAtMs, ...statsOfV1(v1) };
  const v2 = anyUnpack(data, MetricsV2Schema);
  return v2 === undefined ? undefined : { readAtMs, ...statsOfV2(v2) };
}

/** Placeholder values for statistics that shims' metrics do not include. */
const UNCOUNTED_CPU = { periods: 0, throttledPeriods: 0, throttledNanoseconds: 0 };
const UNCOUNTED_MEMORY = {
  peakBytes: undefined,
  cacheBytes: 0,
  mappedFileBytes: 0,
  activeFileBytes: 0,
  kernelBytes: 0,
  limitHits: 0,
  oomKills: 0,
};
/** Limits above this value mean no limit: the kernel and Go represent an unlimited value by a number close to their largest integer. */
const NO_LIMIT = 2n ** 62n;

function statsOfV1({ cpu, memory, pids }: MetricsV1): Omit<CgroupStats, 'readAtMs'> {
  const usage = cpu?.usage;
  const { usage: own, swap: both } = memory ?? {};
  return {
    cpu: usage && {
      ...UNCOUNTED_CPU,
      usageNanoseconds: Number(usage.total),
      userNanoseconds: Number(usage.user),
      systemNanoseconds: Number(usage.kernel),
    },
    memory: memory && {
      ...UNCOUNTED_MEMORY,
      ...memoryUse(own?.usage ?? 0n, memory.totalInactiveFile),
      rssBytes: Number(memory.totalRss),
      swapBytes: Math.max(0, Number(both?.usage ?? 0n) - Number(own?.usage ?? 0n)),
      limitBytes: limitOf(own?.limit),
      swapLimitBytes: undefined,
      pageFaults: Number(memory.totalPgFault),
      majorPageFaults: Number(memory.totalPgMajFault),
    },
    threads: threadsOf(pids),
  };
}

function statsOfV2({ cpu, memory, pids }: MetricsV2): Omit<CgroupStats, 'readAtMs'> {
  return {
    cpu: cpu && {
      ...UNCOUNTED_CPU,
      usageNanoseconds: Number(cpu.usageUsec) * 1000,
      userNanoseconds: Number(cpu.userUsec) * 1000,
      systemNanoseconds: Number(cpu.systemUsec) * 1000,
    },
    memory: memory && {
      ...UNCOUNTED_MEMORY,
      ...memoryUse(memory.usage, memory.inactiveFile),
      rssBytes: Number(memory.anon),
      swapBytes: Number(memory.swapUsage),
      limitBytes: limitOf(memory.usageLimit),
      swapLimitBytes: limitOf(memory.swapLimit),
      pageFaults: Number(memory.pgfault),
      majorPageFaults: Number(memory.pgmajfault),
    },
    threads: threadsOf(pids),
  };
}

function memoryUse(usage: bigint, inactiveFile: bigint) {
  return {
    usageBytes: Number(usage),
    workingSetBytes: Math.max(0, Number(usage - inactiveFile)),
    inactiveFileBytes: Number(inactiveFile),
  };
}

function threadsOf(pids: { current: bigint; limit: bigint } | undefined): CgroupStats['threads'] {
  return pids && { current: Number(pids.current), limit: limitOf(pids.limit) };
}

function limitOf(limit: bigint | undefined): number | undefined {
  return limit === undefined || limit === 0n || limit >= NO_LIMIT ? undefined : Number(limit);
}
