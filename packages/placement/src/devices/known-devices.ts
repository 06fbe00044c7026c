import { type Container, isClaimed, type Pod, quantityValue } from '@podwright/kube-api';
import type { DeviceAssignments } from './device-assignments.ts';
import type { DeviceInventory } from './device-inventory.ts';
import type { ReusableDevices } from './reusable-devices.ts';

/** The node's devices, the containers to which they are assigned, and those that may be assigned once more. */
export type KnownDevices = { inventory: DeviceInventory; assignments: DeviceAssignments; reusable: ReusableDevices };

/** Returns the requested amounts of registered or assigned resources, except those that the pod gets through ResourceClaims. */
export function containerRequests(
  { inventory, assignments }: Pick<KnownDevices, 'inventory' | 'assignments'>,
  pod: Pod,
  { name: container, resources }: Container,
): Map<string, number> {
  const known = assignments.resources();
  const limits = Object.entries(resources?.limits ?? {});
  return new Map(
    limits
      .filter(([name]) => (inventory.has(name) || known.has(name)) && !isClaimed(pod, container, name))
      .map(([name, amount]) => [name, Number(quantityValue(amount))]),
  );
}
