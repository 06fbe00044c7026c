import { compareQuantities, formatQuantity, isHugePages, isQuantity, parseQuantity } from '@podwright/kube-api';
import type { ObservedNode } from './observed-node.ts';

type Quantities = Record<string, string>;

/**
 * Updates capacity and allocatable. Resources added by other writers are retained and count as fully allocatable. Amounts that are equal to
 * the old ones keep their notation.
 */
export function updateResources(
  known: { capacity?: Quantities; allocatable?: Quantities },
  { capacity: has, reserved, devices }: Pick<ObservedNode, 'capacity' | 'reserved' | 'devices'>,
): { capacity: Quantities; allocatable: Quantities } {
  const capacity = { ...known.capacity, ...respelt(known.capacity, { ...has, ...devices.capacity }) };
  const left = Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => [name, subtract(name, amount, reserved[name] ?? '0')]),
  );
  for (const [name, amount] of Object.entries({ ...left, ...devices.allocatable })) left[name] = amount;
  for (const [name, amount] of Object.entries(capacity))
    if (isHugePages(name) && left.memory !== undefined) left.memory = subtract('memory', left.memory, amount);
  const others = Object.entries(known.allocatable ?? {}).filter(
    ([name]) => capacity[name] !== undefined || !isExtendedResource(name),
  );
  return { capacity, allocatable: { ...Object.fromEntries(others), ...respelt(known.allocatable, left) } };
}

/** Whether this is the name of an extended resource rather than of one of Kubernetes' own resources. */
export function isExtendedResource(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}

/** Whether two quantities are equal, regardless of their notation. */
export function isSameQuantity(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one === other || (isQuantity(one) && isQuantity(other) && compareQuantities(one, other) === 0);
}

function respelt(known: Quantities | undefined, amounts: Quantities): Quantities {
  const entries = Object.entries(amounts).map(([name, amount]) => {
    const before = known?.[name];
    return [name, before !== undefined && isSameQuantity(before, amount) ? before : amount];
  });
  return Object.fromEntries(entries);
}

/** Subtracts the reserved amount, clamping at zero. Invalid quantities from the API server are left unchanged. */
function subtract(name: string, amount: string, reserved: string): string {
  if (!isQuantity(amount)) return amount;
  const rest = parseQuantity(amount).nanos - parseQuantity(reserved).nanos;
  const isBinary = name === 'memory' || name === 'ephemeral-storage' || isHugePages(name);
  return formatQuantity(rest < 0n ? 0n : rest, isBinary ? 'Ki' : amount);
}
