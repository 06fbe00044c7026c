/** Devices, CPUs and memory, as reported by the pod resources API. */
import type { Container, Pod } from '@podwright/kube-api';
import { type ListedDevices, type ListedResources, NO_NODE } from '@podwright/placement';
import type { NodeGrants } from './node-grants.ts';

/** Returns a container's exclusive resources. */
export function listedResources({ devices, placement }: NodeGrants, pod: Pod, container: Container): ListedResources {
  const { uid } = pod.metadata;
  const assigned = devices.devicesOf(uid, container.name);
  return {
    devices: assigned.flatMap(({ resource, devices: byNode }) =>
      listed(
        resource,
        Object.entries(byNode).flatMap(([node, ids]) => ids.map((id) => ({ id, nodes: [Number(node)] }))),
      ),
    ),
    cpus: placement.cpus?.ownOf(uid, container.name) ?? [],
    memory: placement.memory?.blocksOf(uid, container.name) ?? [],
  };
}

/** Returns the node's allocatable devices, CPUs and memory. */
export function allocatableResources({ devices, placement }: NodeGrants): ListedResources {
  return {
    devices: devices.allocatable().flatMap(({ resource, devices: all }) => listed(resource, all)),
    cpus: placement.cpus?.allocatable ?? [],
    memory: placement.memory?.allocatable() ?? [],
  };
}

/** Returns the list entries for devices: one per device, or one per NUMA node for a device with several NUMA nodes, as in upstream. */
function listed(resource: string, devices: { id: string; nodes: number[] }[]): ListedDevices[] {
  return devices.flatMap(({ id, nodes }) => {
    const places = nodes.filter((node) => node !== NO_NODE).map((node) => [node]);
    return (places.length === 0 ? [[]] : places).map((place) => ({ resource, ids: [id], nodes: place }));
  });
}
