import {
  type ContainerStats as CriContainerStats,
  type LinuxPodSandboxStats,
  reportedLayerChanges,
} from '@podwright/cri';
import { type FileUse, mostChanges, sumOfUses, type TreeChanges } from '@podwright/host';
import type { Pod, Volume } from '@podwright/kube-api';
import type { RuntimeContainer, RuntimePodStatus, RuntimeSandbox } from '../kubecontainer/runtime-pod.ts';
import { cpuStats, ioStats, memoryStats, networkStats, swapStats, timeOf } from './cri-stats.ts';
import type { HeldFiles } from './held-files.ts';
import {
  type ContainerStats,
  type CpuStats,
  type FsStats,
  type MemoryStats,
  type PodStats,
  StatsTime,
  type SwapStats,
  type VolumeStats,
} from './summary.ts';
import { isClaim, isEphemeral } from './volume-use.ts';

/** CRI statistics of a pod sandbox. Only `containers` is set if the container runtime has no pod statistics. */
export type SandboxUse = Partial<Pick<LinuxPodSandboxStats, 'cpu' | 'memory' | 'network' | 'process' | 'io'>> & {
  containers: CriContainerStats[];
};

/** A pod with a ready sandbox, and its resource usage. */
export type MeasuredPod = {
  runtime: RuntimePodStatus;
  sandbox: RuntimeSandbox;
  use: SandboxUse;
  /** CPU usage rates in nanocores: of containers by container ID, and of pods by sandbox ID. */
  rates: ReadonlyMap<string, number>;
};

/** Input for computing a pod's disk usage. */
export type PodDisk = {
  /** Statistics of the file system that contains the kubelet's directory. */
  root: FsStats;
  /** Statistics of the file systems that contain writable layers, by mount point. */
  layers: ReadonlyMap<string, FsStats>;
  /** Usage of each container's log files, by container name. */
  logs: ReadonlyMap<string, FileUse>;
  /** Usage of the pod's other files: its hosts file and termination message files. */
  others: FileUse;
  held: HeldFiles;
  volumes: VolumeStats[];
  pod: Pod | undefined;
  /** Whether part of the usage was not measured. */
  isPartial?: boolean;
  /** What changed in the volumes while they were measured, and when they last changed (wall-clock time; absent if unknown). */
  changes?: TreeChanges;
  changedAtMs?: number;
};

/**
 * A pod's disk usage by location: its containers' writable layers, and the kubelet's directory. `claims`: its PVCs on the kubelet's file
 * system, such as those stored in directories on the node. They do not count toward limits, and their files outlive the pod.
 */
export type PodDiskUse = { layers: FileUse; kubelet: FileUse; claims?: FileUse };

/**
 * Pod statistics, plus the disk usage by location if it was measured. `isPartial`: the pod uses more disk space than was found. `changes`:
 * what the pod changed on disk during the measurement; its actual usage might therefore be higher. `changedAtMs`: when it last changed
 * files (wall-clock time); absent if unknown.
 */
export type PodStatsByDisk = PodStats & {
  disks?: PodDiskUse;
  isPartial?: boolean;
  changes?: TreeChanges;
  changedAtMs?: number;
};

/** Returns the CPU, memory and swap usage of a pod and its running containers. Pure. */
export function podCpuAndMemory({ runtime, sandbox, use, rates }: MeasuredPod): PodStats {
  const running = new Map(runtime.containers.filter(({ state }) => state === 'running').map((one) => [one.id, one]));
  const containers = use.containers.flatMap((stats) => {
    const container = running.get(stats.attributes?.id ?? '');
    return container === undefined ? [] : [containerCpuAndMemory(container, stats, rates)];
  });
  const { name, namespace, uid } = runtime.pod;
  return {
    podRef: { name, namespace, uid },
    startTime: new StatsTime(sandbox.createdAtMs),
    containers,
    cpu: use.cpu ? cpuStats(use.cpu, rates.get(sandbox.id)) : sumOfCpu(containers),
    memory: use.memory ? memoryStats(use.memory) : sumOfMemory(containers),
    swap: sumOfSwap(containers),
  };
}

/** Returns all statistics of a pod, including network, disks and processes. Pure. */
export function fullPodStats(measured: MeasuredPod, disk: PodDisk): PodStats {
  const { disks, isPartial, changes, changedAtMs, ...stats } = podStatsByDisk(measured, disk);
  return stats;
}

/** Returns all statistics of a pod, as `fullPodStats` does, plus its disk usage by location. Pure. */
export function podStatsByDisk(
  measured: MeasuredPod,
  disk: PodDisk,
): Required<Pick<PodStatsByDisk, 'disks' | 'isPartial'>> & Pick<PodStatsByDisk, 'changes' | 'changedAtMs'> & PodStats {
  const { use } = measured;
  const stats = podCpuAndMemory(measured);
  const byName = new Map(use.containers.map((one) => [one.attributes?.metadata?.name, one]));
  const containers = stats.containers.map((container) => ({
    ...container,
    ...diskOfContainer(byName.get(container.name)!, container.name, disk),
  }));
  const disks = podDiskUse(use, disk);
  const { bytes: usedBytes, inodes: inodesUsed } = sumOfUses([disks.layers, disks.kubelet]);
  return {
    ...stats,
    containers,
    disks,
    isPartial: disk.isPartial === true || disk.held.isPartial || use.containers.some(isLayerPartial),
    ...changesOf(use, disk),
    io: use.io && ioStats(use.io),
    network: use.network && networkStats(use.network),
    volume: disk.volumes.length === 0 ? undefined : disk.volumes,
    'ephemeral-storage': { ...disk.root, usedBytes, inodesUsed },
    ...processStats(measured),
  };
}

/** Returns the pod's process count. */
export function processStats({ use }: Pick<MeasuredPod, 'use'>): Pick<PodStats, 'process_stats'> {
  const processes = use.process?.processCount;
  return { process_stats: processes && { process_count: Number(processes.value) } };
}

function containerCpuAndMemory(
  { id, name, createdAtMs }: RuntimeContainer,
  { cpu, memory, swap, io }: CriContainerStats,
  rates: ReadonlyMap<string, number>,
): ContainerStats {
  return {
    name,
    startTime: new StatsTime(createdAtMs),
    cpu: cpu && cpuStats(cpu, rates.get(id)),
    memory: memory && memoryStats(memory),
    io: io && ioStats(io),
    swap: swap && swapStats(swap),
  };
}

function diskOfContainer(
  { writableLayer }: CriContainerStats,
  name: string,
  { root, layers, logs }: PodDisk,
): Pick<ContainerStats, 'rootfs' | 'logs'> {
  const fileSystem = layers.get(writableLayer?.fsId?.mountpoint ?? '');
  const log = logs.get(name);
  const rootfs = writableLayer && {
    ...fileSystem,
    time: timeOf(writableLayer.timestamp),
    usedBytes: Number(writableLayer.usedBytes?.value ?? 0n),
    inodesUsed: writableLayer.inodesUsed && Number(writableLayer.inodesUsed.value),
  };
  return { rootfs, logs: log && { ...root, usedBytes: log.bytes, inodesUsed: log.inodes } };
}

/** Whether the writable layer was counted incompletely: a container runtime that could not count all of its files reports no inodes. */
function isLayerPartial({ writableLayer }: CriContainerStats): boolean {
  return writableLayer !== undefined && writableLayer.inodesUsed === undefined;
}

/**
 * Combines the changes of the volumes and the writable layers. The time is unknown if the container runtime does not report it for every
 * layer, or if the pod holds deleted files, whose changes are not recorded.
 */
function changesOf(
  { containers }: SandboxUse,
  { changes = 'none', changedAtMs, held }: PodDisk,
): Pick<PodStatsByDisk, 'changes' | 'changedAtMs'> {
  const layers = containers.filter(({ writableLayer }) => writableLayer !== undefined).map(reportedLayerChanges);
  const known = layers.filter((layer) => layer !== undefined);
  const isKnown = known.length === layers.length && held.layers.inodes + held.kubelet.inodes === 0;
  return {
    changes: mostChanges([changes, ...known.map((layer) => layer.changes)]),
    changedAtMs:
      isKnown && changedAtMs !== undefined
        ? Math.max(changedAtMs, ...known.map((layer) => layer.changedAtMs))
        : undefined,
  };
}

/** Adds up writable layers and logs, including those of exited containers, and ephemeral volumes. */
function podDiskUse({ containers }: SandboxUse, { pod, root, logs, volumes, others, held }: PodDisk): PodDiskUse {
  const layers = containers.map(({ writableLayer }) => ({
    bytes: Number(writableLayer?.usedBytes?.value ?? 0n),
    inodes: Number(writableLayer?.inodesUsed?.value ?? 0n),
  }));
  const useOf = (isCounted: (volume: Volume) => boolean, stats: VolumeStats[]): FileUse[] => {
    const names = new Set(pod?.spec.volumes?.filter(isCounted).map(({ name }) => name));
    const counted = stats.filter(({ name }) => names.has(name));
    return counted.map(({ usedBytes = 0, inodesUsed = 0 }) => ({ bytes: usedBytes, inodes: inodesUsed }));
  };
  const claimed = volumes.filter((volume) => isSameFileSystem(volume, root));
  const files = useOf(isEphemeral, volumes);
  return {
    layers: sumOfUses([...layers, held.layers]),
    kubelet: sumOfUses([...files, ...logs.values(), others, held.kubelet]),
    claims: sumOfUses(useOf(isClaim, claimed)),
  };
}

/** Whether two statistics are of the same file system. They do not identify it, so this compares sizes, which rarely match by chance. */
function isSameFileSystem(a: FsStats, b: FsStats): boolean {
  return a.capacityBytes !== undefined && a.capacityBytes === b.capacityBytes && a.inodes === b.inodes;
}

const sum = (values: (number | undefined)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);

function sumOfCpu(containers: ContainerStats[]): CpuStats | undefined {
  const parts = containers.flatMap(({ cpu }) => cpu ?? []);
  const last = parts.at(-1);
  return (
    last && {
      time: last.time,
      usageNanoCores: sum(parts.map(({ usageNanoCores }) => usageNanoCores)),
      usageCoreNanoSeconds: sum(parts.map(({ usageCoreNanoSeconds }) => usageCoreNanoSeconds)),
    }
  );
}

function sumOfMemory(containers: ContainerStats[]): MemoryStats | undefined {
  const parts = containers.flatMap(({ memory }) => memory ?? []);
  const last = parts.at(-1);
  if (last === undefined) return undefined;
  const of = (name: Exclude<keyof MemoryStats, 'time' | 'psi'>) => sum(parts.map((part) => part[name]));
  return {
    time: last.time,
    availableBytes: of('availableBytes'),
    usageBytes: of('usageBytes'),
    workingSetBytes: of('workingSetBytes'),
    rssBytes: of('rssBytes'),
    pageFaults: of('pageFaults'),
    majorPageFaults: of('majorPageFaults'),
  };
}

function sumOfSwap(containers: ContainerStats[]): SwapStats | undefined {
  const parts = containers.flatMap(({ swap }) => swap ?? []);
  const last = parts.at(-1);
  return (
    last && {
      time: last.time,
      swapAvailableBytes: sum(parts.map(({ swapAvailableBytes }) => swapAvailableBytes)),
      swapUsageBytes: sum(parts.map(({ swapUsageBytes }) => swapUsageBytes)),
    }
  );
}
