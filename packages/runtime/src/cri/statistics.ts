import type { CgroupStats, CpuStats, MemoryStats } from '@podwright/base';
import type {
  ContainerStatsSchema,
  CpuUsageSchema,
  MemoryUsageSchema,
  MessageInitShape,
  NetworkUsageSchema,
  PodSandboxStatsSchema,
  SwapUsageSchema,
} from '@podwright/cri';
import type { ContainerRecord } from '../containers/container-record.ts';
import type { ContainerUse, InterfaceUse, SandboxUse } from '../containers/statistics.ts';
import { toNanoseconds } from '../metadata/ids.ts';
import type { SandboxRecord } from '../sandbox/sandbox-record.ts';
import { sandboxMetadata } from './sandbox-status.ts';

const count = (value: number | undefined) => (value === undefined ? undefined : { value: BigInt(Math.round(value)) });

/** A container's use in the CRI's words. */
export function criContainerStats(
  { id, config }: ContainerRecord,
  { cgroup, nanoCores, layer }: ContainerUse,
  mountpoint: string,
): MessageInitShape<typeof ContainerStatsSchema> {
  const { name, attempt, labels, annotations } = config;
  return {
    attributes: { id, metadata: { name, attempt }, labels, annotations },
    ...usage(cgroup, nanoCores),
    writableLayer: {
      timestamp: toNanoseconds(layer.atMs),
      fsId: { mountpoint },
      usedBytes: count(layer.sizeBytes),
      inodesUsed: count(layer.inodes),
    },
  };
}

/** A pod's use; that of its containers is added up where the pod has no cgroup of its own. */
export function criSandboxStats(
  { id, config }: SandboxRecord,
  use: SandboxUse,
  containers: { record: ContainerRecord; use: ContainerUse; mountpoint: string }[],
): MessageInitShape<typeof PodSandboxStatsSchema> {
  const { labels, annotations } = config;
  const timestamp = toNanoseconds(use.atMs);
  const parts = containers.map((container) => container.use.cgroup);
  const processes = use.cgroup?.pids?.current ?? parts.reduce((sum, { pids }) => sum + (pids?.current ?? 0), 0);
  return {
    attributes: { id, metadata: sandboxMetadata(config), labels, annotations },
    linux: {
      ...usage(use.cgroup ?? sumOf(parts, use.atMs), use.nanoCores),
      network: network(use.interfaces, timestamp),
      process: { timestamp, processCount: count(processes) },
      containers: containers.map(({ record, use: used, mountpoint }) => criContainerStats(record, used, mountpoint)),
    },
  };
}

function usage({ readAtMs, cpu, memory }: CgroupStats, nanoCores: number | undefined) {
  const timestamp = toNanoseconds(readAtMs);
  return {
    cpu: cpu === undefined ? undefined : cpuUsage(cpu, nanoCores, timestamp),
    memory: memory === undefined ? undefined : memoryUsage(memory, timestamp),
    swap: memory === undefined ? undefined : swapUsage(memory, timestamp),
  };
}

function cpuUsage(
  cpu: CpuStats,
  nanoCores: number | undefined,
  timestamp: bigint,
): MessageInitShape<typeof CpuUsageSchema> {
  return { timestamp, usageCoreNanoSeconds: count(cpu.usageNanoseconds), usageNanoCores: count(nanoCores) };
}

function memoryUsage(memory: MemoryStats, timestamp: bigint): MessageInitShape<typeof MemoryUsageSchema> {
  const { limitBytes, workingSetBytes } = memory;
  return {
    timestamp,
    workingSetBytes: count(workingSetBytes),
    availableBytes: limitBytes === undefined ? undefined : count(Math.max(0, limitBytes - workingSetBytes)),
    usageBytes: count(memory.usageBytes),
    rssBytes: count(memory.rssBytes),
    pageFaults: count(memory.pageFaults),
    majorPageFaults: count(memory.majorPageFaults),
  };
}

function swapUsage(
  { swapBytes, limitBytes, swapLimitBytes }: MemoryStats,
  timestamp: bigint,
): MessageInitShape<typeof SwapUsageSchema> {
  const available =
    swapLimitBytes === undefined || limitBytes === undefined
      ? undefined
      : Math.max(0, swapLimitBytes - limitBytes - swapBytes);
  return { timestamp, swapUsageBytes: count(swapBytes), swapAvailableBytes: count(available) };
}

function network(interfaces: InterfaceUse[], timestamp: bigint): MessageInitShape<typeof NetworkUsageSchema> {
  const all = interfaces.map(({ name, rxBytes, rxErrors, txBytes, txErrors }) => ({
    name,
    rxBytes: count(rxBytes),
    rxErrors: count(rxErrors),
    txBytes: count(txBytes),
    txErrors: count(txErrors),
  }));
  const defaultInterface = all.find(({ name }) => name === 'eth0') ?? all[0];
  return { timestamp, defaultInterface, interfaces: all.filter((one) => one !== defaultInterface) };
}

/** The sum over containers; parts that none of them has stay absent. */
function sumOf(parts: CgroupStats[], readAtMs: number): CgroupStats {
  const cpus = parts.flatMap(({ cpu }) => cpu ?? []);
  const memories = parts.flatMap(({ memory }) => memory ?? []);
  return {
    readAtMs,
    cpu: cpus.length === 0 ? undefined : cpus.reduce(addUp),
    memory:
      memories.length === 0
        ? undefined
        : { ...memories.reduce(addUp), limitBytes: undefined, swapLimitBytes: undefined },
  };
}

function addUp<T extends Record<string, number | undefined>>(left: T, right: T): T {
  return Object.fromEntries(Object.keys(left).map((key) => [key, (left[key] ?? 0) + (right[key] ?? 0)])) as T;
}
