import { type Container, isClaimed, type Pod, quantityValue } from '@podwright/kube-api';
import type { DeviceAssignments } from './device-assignments.ts';
import type { DeviceInventory } from './device-inventory.ts';
import type { ReusableDevices } from './reusable-devices.ts';

/** The node's devices, their assignments to containers, and the assigned devices that may be reused. */
export type KnownDevices = { inventory: DeviceInventory; assignments: DeviceAssignments; reusable: ReusableDevices };

/**
 * Returns a container's requests for device plugin resources (registered or already assigned), except those satisfied by ResourceClaims.
 */
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
