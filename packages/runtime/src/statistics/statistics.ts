import type { CgroupStats, DeviceIo, InterfaceUse } from '@podwright/host';
import type { ContainerRecord } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { LayerUse } from './disk-use.ts';
import type { FilesystemUse } from './filesystem-use.ts';
import type { ProcessUse } from './process-use.ts';

/** Current usage of a container. `nanoCores` is the CPU usage since the previous reading; undefined for the first reading. */
export type ContainerUse = {
  cgroup: CgroupStats;
  nanoCores: number | undefined;
  layer: LayerUse;
};

/** Detailed usage of a running container, which takes longer to read. */
export type ContainerDetails = ContainerUse & {
  /** Path of the container's cgroup, the same in every hierarchy. */
  cgroupPath: string;
  processes: ProcessUse;
  /** The file system that contains the container's writable layer. */
  filesystem: FilesystemUse;
  /** The container's I/O by block device. */
  devices: (DeviceIo & { name: string })[];
};

/** Usage of a pod as a whole. `cgroup` is undefined for a pod without its own cgroup. */
export type SandboxUse = {
  atMs: number;
  cgroup: CgroupStats | undefined;
  nanoCores: number | undefined;
  interfaces: InterfaceUse[];
};

/**
 * Reads the resource usage of containers and sandboxes. If one of them is removed during the call, some fields of its usage are undefined.
 */
export interface Statistics {
  ofContainer(record: ContainerRecord): Promise<ContainerUse>;
  detailsOf(record: ContainerRecord): Promise<ContainerDetails>;
  ofSandbox(record: SandboxRecord): Promise<SandboxUse>;
  /** Mount point of the containers' writable layers. */
  readonly layersMountpoint: string;
}
