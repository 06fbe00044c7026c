import type { CgroupStats, DeviceIo, InterfaceUse } from '@podwright/base';
import type { SnapshotUsage } from '@podwright/images';
import type { ContainerRecord } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { FilesystemUse } from './filesystem-use.ts';
import type { ProcessUse } from './process-use.ts';

/** What a container uses now. `nanoCores` is its use of CPUs since the last look, absent at the first. */
export type ContainerUse = {
  cgroup: CgroupStats;
  nanoCores: number | undefined;
  layer: SnapshotUsage & { atMs: number };
};

/** All that can be told of a container that runs; finding it out takes longer. */
export type ContainerDetails = ContainerUse & {
  /** Path of its cgroup, the same in each tree. */
  cgroupPath: string;
  processes: ProcessUse;
  /** Where its written layer is. */
  filesystem: FilesystemUse;
  /** Its use of block devices, by what these are called. */
  devices: (DeviceIo & { name: string })[];
};

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
  detailsOf(record: ContainerRecord): Promise<ContainerDetails>;
  ofSandbox(record: SandboxRecord): Promise<SandboxUse>;
  /** Where the containers' written layers are. */
  readonly layersMountpoint: string;
}
