import type { CriClient, VersionResponse } from '@podwright/cri';
import type { CgroupHierarchy } from '@podwright/host';
import type { SystemReserved } from '@podwright/kubelet-configuration';
import { hostCgroups } from '../cgroups/host-cgroups.ts';
import type { RuntimeFeatures } from '../kuberuntime/runtime-features.ts';
import { type ContainerHost, readContainerHost } from '../node/container-host.ts';
import { type NodeAmounts, nodeAllocatable } from '../node/node-allocatable.ts';
import { readNodeCapacity } from '../node/node-capacity.ts';
import { hostAddresses } from '../node/node-facts.ts';
import { allocatableResources, type NodeResources, nodeResources } from '../node/node-resources.ts';
import type { KubeletOptions } from '../options.ts';

/** Facts about the container runtime and the host, collected at startup. */
export type KnownHost = {
  version: VersionResponse;
  /** Whether the container runtime supports `supplementalGroupsPolicy: Strict`. */
  strictGroups: boolean;
  addresses: string[];
  hierarchy: CgroupHierarchy | undefined;
  /** The node's memory and PIDs, and the share available to all pods together. */
  capacity: NodeAmounts;
  allocatable: NodeAmounts;
  /** All of the node's resources, and the share that all pods together may request. */
  has: NodeResources;
  resources: NodeResources;
  /** `KubeletOptions.systemReserved`, with `auto` resolved to numbers. */
  systemReserved: SystemReserved;
  host: ContainerHost;
};

export async function lookAtHost(
  options: KubeletOptions,
  { cri, features }: { cri: CriClient; features: RuntimeFeatures },
): Promise<KnownHost> {
  const [version, strictGroups, addresses, hierarchy] = await Promise.all([
    cri.runtime.version({}),
    features.strictGroups(),
    hostAddresses(options.nodeIp),
    hostCgroups(options.logger),
  ]);
  const capacity = await readNodeCapacity(hierarchy);
  const allocatable = nodeAllocatable(capacity, options.systemReserved);
  const has = await nodeResources(capacity, options.rootDir);
  const resources = allocatableResources(has, { allocatable, reserved: options.systemReserved });
  const host = await readContainerHost({ hierarchy, allocatableMemory: resources.memory ?? 0n });
  const systemReserved = {
    ...options.systemReserved,
    memoryBytes: capacity.memoryBytes - allocatable.memoryBytes,
    pids: capacity.pids - allocatable.pids,
  };
  return { version, strictGroups, addresses, hierarchy, capacity, allocatable, has, resources, systemReserved, host };
}
