import { formatTime } from '@podwright/kube-api';

/** A time in milliseconds, serialized to JSON in whole seconds like metav1.Time. */
export class StatsTime extends Date {
  override toJSON(): string {
    return formatTime(this.getTime());
  }
}

/** The response of `/stats/summary` (k8s.io/kubelet stats/v1alpha1). Sizes are in bytes; unknown values are absent. */
export type Summary = { node: NodeStats; pods: PodStats[] };

export type NodeStats = {
  nodeName: string;
  systemContainers?: ContainerStats[];
  startTime: StatsTime;
  cpu?: CpuStats;
  memory?: MemoryStats;
  io?: IoStats;
  network?: NetworkStats;
  fs?: FsStats;
  runtime?: { imageFs?: FsStats; containerFs?: FsStats };
  rlimit?: RlimitStats;
  swap?: SwapStats;
};

/** The resource use of the host. `fs` is the file system of the kubelet's directory. */
export type HostUse = Pick<NodeStats, 'cpu' | 'memory' | 'io'> & { fs: FsStats };

/** `maxpid`: maximum number of processes and threads; `curproc`: their current number. */
export type RlimitStats = { time: StatsTime; maxpid?: number; curproc?: number };

export type PodStats = {
  podRef: { name: string; namespace: string; uid: string };
  startTime: StatsTime;
  containers: ContainerStats[];
  cpu?: CpuStats;
  memory?: MemoryStats;
  io?: IoStats;
  network?: NetworkStats;
  volume?: VolumeStats[];
  'ephemeral-storage'?: FsStats;
  process_stats?: { process_count?: number };
  swap?: SwapStats;
};

export type ContainerStats = {
  name: string;
  startTime: StatsTime;
  cpu?: CpuStats;
  memory?: MemoryStats;
  io?: IoStats;
  rootfs?: FsStats;
  logs?: FsStats;
  swap?: SwapStats;
};

export type CpuStats = { time: StatsTime; usageNanoCores?: number; usageCoreNanoSeconds?: number; psi?: PsiStats };

export type MemoryStats = {
  time: StatsTime;
  availableBytes?: number;
  usageBytes?: number;
  workingSetBytes?: number;
  rssBytes?: number;
  pageFaults?: number;
  majorPageFaults?: number;
  psi?: PsiStats;
};

export type IoStats = { time: StatsTime; psi?: PsiStats };

export type PsiStats = { full: PsiData; some: PsiData };
/** `total` is in microseconds, the averages are percentages. */
export type PsiData = { total: number; avg10: number; avg60: number; avg300: number };

export type SwapStats = { time: StatsTime; swapAvailableBytes?: number; swapUsageBytes?: number };

export type InterfaceStats = { name: string; rxBytes?: number; rxErrors?: number; txBytes?: number; txErrors?: number };
/** Statistics of the default interface, and a list of all interfaces. */
export type NetworkStats = InterfaceStats & { time: StatsTime; interfaces?: InterfaceStats[] };

export type FsStats = {
  time: StatsTime;
  availableBytes?: number;
  capacityBytes?: number;
  usedBytes?: number;
  inodesFree?: number;
  inodes?: number;
  inodesUsed?: number;
};

export type VolumeStats = FsStats & { name: string; pvcRef?: { name: string; namespace: string } };
