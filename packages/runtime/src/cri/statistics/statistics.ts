import type { CgroupStats, CpuStats, MemoryStats, PressureStats } from '@podwright/base';
import type {
  ContainerStatsSchema,
  CpuUsageSchema,
  IoUsageSchema,
  MemoryUsageSchema,
  MessageInitShape,
  NetworkUsageSchema,
  PodSandboxStatsSchema,
  PsiStatsSchema,
  SwapUsageSchema,
} from '@podwright/cri';
import type { ContainerRecord } from '../../records/container-record.ts';
import { toNanoseconds } from '../../records/ids.ts';
import type { SandboxRecord } from '../../records/sandbox-record.ts';
import type { InterfaceUse } from '../../statistics/network-use.ts';
import type { ContainerUse, SandboxUse } from '../../statistics/statistics.ts';
import { sandboxMetadata } from '../messages/sandbox-message.ts';

const count = (value: number | undefined) => (value === undefined ? undefined : { value: BigInt(Math.round(value)) });

/** A container's use as a CRI message. */
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
  const uses = containers.map((container) => container.use);
  const cgroup = use.cgroup ?? sumOf(uses, use.atMs);
  const { swap: _, ...ofPod } = usage(cgroup, use.nanoCores ?? sumOfNanoCores(uses));
  return {
    attributes: { id, metadata: sandboxMetadata(config), labels, annotations },
    linux: {
      ...ofPod,
      network: network(use.interfaces, timestamp),
      process: { timestamp, processCount: count(cgroup.processes ?? 0) },
      containers: containers.map(({ record, use: used, mountpoint }) => criContainerStats(record, used, mountpoint)),
    },
  };
}

function usage({ readAtMs, cpu, memory, pressure }: CgroupStats, nanoCores: number | undefined) {
  const timestamp = toNanoseconds(readAtMs);
  return {
    cpu: cpu && cpuUsage(cpu, { nanoCores, psi: psi(pressure?.cpu) }, timestamp),
    memory: memory && memoryUsage(memory, psi(pressure?.memory), timestamp),
    swap: memory && swapUsage(memory, timestamp),
    io: ioUsage(psi(pressure?.io), timestamp),
  };
}

type Psi = MessageInitShape<typeof PsiStatsSchema> | undefined;

function cpuUsage(
  cpu: CpuStats,
  { nanoCores, psi }: { nanoCores: number | undefined; psi: Psi },
  timestamp: bigint,
): MessageInitShape<typeof CpuUsageSchema> {
  return { timestamp, usageCoreNanoSeconds: count(cpu.usageNanoseconds), usageNanoCores: count(nanoCores), psi };
}

function ioUsage(psi: Psi, timestamp: bigint): MessageInitShape<typeof IoUsageSchema> | undefined {
  return psi === undefined ? undefined : { timestamp, psi };
}

function memoryUsage(memory: MemoryStats, psi: Psi, timestamp: bigint): MessageInitShape<typeof MemoryUsageSchema> {
  const { limitBytes, workingSetBytes } = memory;
  return {
    timestamp,
    workingSetBytes: count(workingSetBytes),
    availableBytes: limitBytes === undefined ? undefined : count(Math.max(0, limitBytes - workingSetBytes)),
    usageBytes: count(memory.usageBytes),
    rssBytes: count(memory.rssBytes),
    pageFaults: count(memory.pageFaults),
    majorPageFaults: count(memory.majorPageFaults),
    psi,
  };
}

function swapUsage(
  { swapBytes, swapLimitBytes }: MemoryStats,
  timestamp: bigint,
): MessageInitShape<typeof SwapUsageSchema> {
  const available = swapLimitBytes === undefined ? undefined : Math.max(0, swapLimitBytes - swapBytes);
  return { timestamp, swapUsageBytes: count(swapBytes), swapAvailableBytes: count(available) };
}

/** Pressure as the kernel tells it; absent where it does not. */
function psi(pressure: PressureStats | undefined): Psi {
  if (pressure === undefined) return undefined;
  const data = ({ avg10, avg60, avg300, totalMicroseconds }: NonNullable<PressureStats['some']>) => ({
    Total: BigInt(totalMicroseconds),
    Avg10: avg10,
    Avg60: avg60,
    Avg300: avg300,
  });
  return { Some: pressure.some && data(pressure.some), Full: pressure.full && data(pressure.full) };
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

/** The sum over containers; parts that none of them has stay absent, and so does what does not add up: limits, peaks, pressure. */
function sumOf(uses: ContainerUse[], readAtMs: number): CgroupStats {
  const parts = uses.map(({ cgroup }) => cgroup);
  const cpus = parts.flatMap(({ cpu }) => cpu ?? []);
  const memories = parts.flatMap(({ memory }) => memory ?? []);
  return {
    readAtMs,
    cpu: cpus.length === 0 ? undefined : cpus.reduce(addUp),
    memory:
      memories.length === 0
        ? undefined
        : { ...memories.reduce(addUp), limitBytes: undefined, swapLimitBytes: undefined, peakBytes: undefined },
    processes: parts.reduce((sum, { processes }) => sum + (processes ?? 0), 0),
  };
}

function sumOfNanoCores(uses: ContainerUse[]): number | undefined {
  const known = uses.flatMap(({ nanoCores }) => nanoCores ?? []);
  return known.length === 0 ? undefined : known.reduce((left, right) => left + right);
}

function addUp<T extends Record<string, number | undefined>>(left: T, right: T): T {
  return Object.fromEntries(Object.keys(left).map((key) => [key, (left[key] ?? 0) + (right[key] ?? 0)])) as T;
}
