/** What `/stats/summary` answers with: k8s.io/kubelet stats/v1alpha1. Times are RFC 3339, sizes bytes; what is not known is absent. */
export type Summary = { node: NodeStats; pods: PodStats[] };

export type NodeStats = {
  nodeName: string;
  systemContainers?: ContainerStats[];
  startTime: string;
  cpu?: CpuStats;
  memory?: MemoryStats;
  io?: IoStats;
  network?: NetworkStats;
  fs?: FsStats;
  runtime?: { imageFs?: FsStats; containerFs?: FsStats };
  rlimit?: RlimitStats;
  swap?: SwapStats;
};

/** `maxpid` is how many processes and threads there may be, `curproc` how many there are. */
export type RlimitStats = { time: string; maxpid?: number; curproc?: number };

export type PodStats = {
  podRef: { name: string; namespace: string; uid: string };
  startTime: string;
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
  startTime: string;
  cpu?: CpuStats;
  memory?: MemoryStats;
  io?: IoStats;
  rootfs?: FsStats;
  logs?: FsStats;
  swap?: SwapStats;
};

export type CpuStats = { time: string; usageNanoCores?: number; usageCoreNanoSeconds?: number; psi?: PsiStats };

export type MemoryStats = {
  time: string;
  availableBytes?: number;
  usageBytes?: number;
  workingSetBytes?: number;
  rssBytes?: number;
  pageFaults?: number;
  majorPageFaults?: number;
  psi?: PsiStats;
};

export type IoStats = { time: string; psi?: PsiStats };

export type PsiStats = { full: PsiData; some: PsiData };
/** `total` in microseconds, the averages in percent. */
export type PsiData = { total: number; avg10: number; avg60: number; avg300: number };

export type SwapStats = { time: string; swapAvailableBytes?: number; swapUsageBytes?: number };

export type InterfaceStats = { name: string; rxBytes?: number; rxErrors?: number; txBytes?: number; txErrors?: number };
/** The default interface, and all. */
export type NetworkStats = InterfaceStats & { time: string; interfaces?: InterfaceStats[] };

export type FsStats = {
  time: string;
  availableBytes?: number;
  capacityBytes?: number;
  usedBytes?: number;
  inodesFree?: number;
  inodes?: number;
  inodesUsed?: number;
};

export type VolumeStats = FsStats & { name: string; pvcRef?: { name: string; namespace: string } };
