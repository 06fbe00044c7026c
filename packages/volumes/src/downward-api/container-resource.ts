import { type Container, parseQuantity, quantityInUnitsOf, type ResourceFieldSelector } from '@podwright/kube-api';

/** The node's allocatable resources, which serve as the limits of containers that do not set any. */
export type NodeAllocatable = { cpuMillis: bigint; memoryBytes: bigint; ephemeralStorageBytes: bigint };

/** Formats the value of a resource such as `limits.cpu` in units of the divisor, rounded up. A missing request counts as 0. */
export function containerResource(
  container: Container,
  ref: ResourceFieldSelector,
  allocatable: NodeAllocatable,
): string {
  const dot = ref.resource.indexOf('.');
  const list = ref.resource.slice(0, dot) as 'limits' | 'requests';
  const name = ref.resource.slice(dot + 1);
  const given = container.resources?.[list];
  const amount = given !== undefined && Object.hasOwn(given, name) ? given[name]! : fallback(list, name, allocatable);
  return quantityInUnitsOf(amount, divisorOf(ref)).toString();
}

/** Returns the divisor; API servers store an omitted one as 0. */
function divisorOf({ divisor = '1' }: ResourceFieldSelector): string {
  return parseQuantity(divisor).nanos === 0n ? '1' : divisor;
}

function fallback(list: 'limits' | 'requests', name: string, allocatable: NodeAllocatable): string {
  if (list === 'requests') return '0';
  if (name === 'cpu') return `${allocatable.cpuMillis}m`;
  if (name === 'memory') return allocatable.memoryBytes.toString();
  if (name === 'ephemeral-storage') return allocatable.ephemeralStorageBytes.toString();
  return '0';
}
