import type { MessageInitShape } from '@bufbuild/protobuf';
import type { CgroupStats, CpuStats, InterfaceUse, MemoryStats, PressureStats, TreeChanges } from '@podwright/host';
import type {
  ContainerAttributesSchema,
  ContainerStats,
  ContainerStatsSchema,
  CpuUsageSchema,
  IoUsageSchema,
  MemoryUsageSchema,
  NetworkUsageSchema,
  PodSandboxAttributesSchema,
  PodSandboxStatsSchema,
  PsiStatsSchema,
  SwapUsageSchema,
} from '../messages.ts';

/**
 * Annotation in a container's statistics that describes changes to its writable layer: what changed while it was being measured (see
 * `TreeChanges`), and when it last changed, in milliseconds since the epoch. Example: `files 1764500000000`.
 */
const LAYER_CHANGES_ANNOTATION = 'podwright.dev/layer-changes';

type LayerChanges = { changes: TreeChanges; changedAtMs: number };

/** Returns the changes to the container's writable layer; `undefined` if the container runtime does not report them. */
export function reportedLayerChanges({ attributes }: Pick<ContainerStats, 'attributes'>): LayerChanges | undefined {
  const [, changes, atMs] =
    /^(none|files|directories) (\d+)$/.exec(attributes?.annotations[LAYER_CHANGES_ANNOTATION] ?? '') ?? [];
  return changes === undefined ? undefined : { changes: changes as TreeChanges, changedAtMs: Number(atMs) };
}

/**
 * Usage of the writable layer. If `isPartial`, not everything was counted, so the values are lower bounds. The changes are absent if
 * unknown.
 */
type LayerUse = { sizeBytes: number; inodes: number; atMs: number; isPartial?: boolean } & Partial<LayerChanges>;

/** A container's usage. `nanoCores` is absent in the first sample, `layer` until the writable layer has been measured. */
export type MeasuredContainer = {
  attributes: MessageInitShape<typeof ContainerAttributesSchema>;
  use: {
    cgroup: CgroupStats;
    nanoCores: number | undefined;
    layer: LayerUse | undefined;
  };
  /** Mount point of the file system that contains the layer. */
  mountpoint: string;
};

/** A pod's total usage. If the pod has no cgroup of its own, `cgroup` is absent, and the containers' usage is summed instead. */
export type MeasuredSandbox = {
  attributes: MessageInitShape<typeof PodSandboxAttributesSchema>;
  use: { atMs: number; cgroup: CgroupStats | undefined; nanoCores: number | undefined; interfaces: InterfaceUse[] };
  containers: MeasuredContainer[];
};

const toNanoseconds = (milliseconds: number) => BigInt(Math.round(milliseconds * 1000)) * 1000n;
const count = (value: number | undefined) => (value === undefined ? undefined : { value: BigInt(Math.round(value)) });

/**
 * Converts a container's usage to a CRI message. `inodes_used` is omitted if the layer was only partly counted, because walking it took too
 * long or files were being moved; the CRI has no other way to mark the byte count as a lower bound. Changes to the layer are described by
 * an annotation.
 */
export function containerStatsMessage({
  attributes,
  use: { cgroup, nanoCores, layer },
  mountpoint,
}: MeasuredContainer): MessageInitShape<typeof ContainerStatsSchema> {
  const { changes, changedAtMs } = layer ?? {};
  const isKnown = changes !== undefined && changedAtMs !== undefined;
  const marks: Record<string, string> = isKnown
    ? { [LAYER_CHANGES_ANNOTATION]: `${changes} ${Math.ceil(changedAtMs)}` }
    : {};
  return {
    attributes: { ...attributes, annotations: { ...attributes.annotations, ...marks } },
    ...usage(cgroup, nanoCores),
    writableLayer: layer && {
      timestamp: toNanoseconds(layer.atMs),
      fsId: { mountpoint },
      usedBytes: count(layer.sizeBytes),
      inodesUsed: layer.isPartial ? undefined : count(layer.inodes),
    },
  };
}

/** Converts a pod's usage to a CRI message. */
export function sandboxStatsMessage({
  attributes,
  use,
  containers,
}: MeasuredSandbox): MessageInitShape<typeof PodSandboxStatsSchema> {
  const timestamp = toNanoseconds(use.atMs);
  const uses = containers.map((container) => container.use);
  const cgroup = use.cgroup ?? sumOf(uses, use.atMs);
  const { swap: _, ...ofPod } = usage(cgroup, use.nanoCores ?? sumOfNanoCores(uses));
  return {
    attributes,
    linux: {
      ...ofPod,
      network: network(use.interfaces, timestamp),
      process: { timestamp, processCount: count(cgroup.processes ?? 0) },
      containers: containers.map(containerStatsMessage),
    },
  };
}

type ContainerUse = MeasuredContainer['use'];

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

/** Sums the containers' usage. Omits values that no container reports, and values that cannot be summed: limits, peaks, pressure. */
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
