import type { CgroupStats } from '@podwright/base';
import type { SandboxRecord } from '../sandbox/sandbox-record.ts';
import type { SnapshotUsage } from '../snapshots/snapshotter.ts';
import type { ContainerRecord } from './container-record.ts';

/** What a container uses now. `nanoCores` is its use of CPUs since the last look, absent at the first. */
export type ContainerUse = {
  cgroup: CgroupStats;
  nanoCores: number | undefined;
  layer: SnapshotUsage & { atMs: number };
};

/** One network interface of a pod, as the kernel counts it. */
export type InterfaceUse = { name: string; rxBytes: number; rxErrors: number; txBytes: number; txErrors: number };

/** What a pod uses as a whole. `cgroup` is absent for a pod without a cgroup of its own. */
export type SandboxUse = {
  atMs: number;
  cgroup: CgroupStats | undefined;
  nanoCores: number | undefined;
  interfaces: InterfaceUse[];
};

/** Counts what containers and sandboxes use. Things that have gone meanwhile give values without parts. */
export interface Statistics {
  ofContainer(record: ContainerRecord): Promise<ContainerUse>;
  ofSandbox(record: SandboxRecord): Promise<SandboxUse>;
  /** Where the containers' written layers are. */
  readonly layersMountpoint: string;
}
