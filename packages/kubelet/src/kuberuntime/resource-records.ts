/** Checkpoint entries for allocated and actuated resources. */
import { fieldsOf } from '@podwright/host';
import { parseQuantity, type ResourceList, type ResourceRequirements } from '@podwright/kube-api';
import type { GivenResources } from '../kubecontainer/runtime-pod.ts';

/** Resources allocated to a pod, under upstream's field names (pkg/kubelet/allocation/state). */
export type AllocatedRecord = {
  ContainerResources: Record<string, ResourceRequirements>;
  PodLevelResources?: ResourceRequirements;
};

/**
 * Resources from the last update of a running container. `isPending`: the update is in progress, so the container may have either these
 * resources or the new ones.
 */
export type ActuatedContainer = { resources: GivenResources; isPending?: true };

/** Entries by container ID. Containers without an entry have the resources they were created with. */
export type ActuatedRecord = Record<string, ActuatedContainer>;

export function decodeAllocated(entry: unknown): AllocatedRecord {
  const { ContainerResources, PodLevelResources } = Object.fromEntries(fieldsOf(entry));
  const containers = fieldsOf(ContainerResources).map(([name, resources]) => [name, decodeResources(resources)]);
  return {
    ContainerResources: Object.fromEntries(containers),
    ...(PodLevelResources !== undefined && { PodLevelResources: decodeResources(PodLevelResources) }),
  };
}

export function decodeActuated(entry: unknown): ActuatedRecord {
  const containers = fieldsOf(entry).map(([id, container]) => {
    const { resources, isPending } = Object.fromEntries(fieldsOf(container));
    const { pod, ...own } = Object.fromEntries(fieldsOf(resources));
    const given = { ...decodeResources(own), ...(pod !== undefined && { pod: decodeResources(pod) }) };
    return [id, { resources: given, ...(isPending === true && { isPending }) }];
  });
  return Object.fromEntries(containers);
}

function decodeResources(value: unknown): ResourceRequirements {
  const resources = Object.fromEntries(fieldsOf(value)) as ResourceRequirements;
  for (const list of [resources.limits, resources.requests]) if (list !== undefined) checkAmounts(list);
  return resources;
}

function checkAmounts(list: ResourceList): void {
  for (const [, amount] of fieldsOf(list)) parseQuantity(amount as string);
}
