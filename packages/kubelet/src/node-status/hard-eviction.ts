import { parseQuantity, quantityValue } from '@podwright/kube-api';
import { amountOf, thresholdValue } from '@podwright/kubelet-configuration';

/** Eviction signals whose hard thresholds are subtracted from allocatable, with the affected resources. */
const RESERVED = { 'memory.available': 'memory', 'nodefs.available': 'ephemeral-storage' } as const;

/** Returns the bytes to subtract from allocatable, by resource name, so that eviction begins before memory and disk run out. */
export function hardEvictionReserve(
  thresholds: Readonly<Record<string, string>>,
  capacity: Record<string, string>,
): Record<string, string> {
  const reserves = Object.entries(RESERVED).flatMap(([signal, resource]) => {
    const threshold = thresholds[signal];
    const has = capacity[resource];
    const isNone = threshold === undefined || threshold === '100%'; // as in upstream, where 100% means no threshold
    return isNone || has === undefined
      ? []
      : [[resource, String(amountOf(thresholdValue(threshold), quantityValue(has)))]];
  });
  return Object.fromEntries(reserves);
}

/** Adds up several resource reservations. */
export function addReserves(...reserves: Record<string, string>[]): Record<string, string> {
  const sum = new Map<string, bigint>();
  for (const [name, amount] of reserves.flatMap((one) => Object.entries(one)))
    sum.set(name, (sum.get(name) ?? 0n) + parseQuantity(amount).nanos);
  return Object.fromEntries([...sum].map(([name, nanos]) => [name, nanosText(nanos)]));
}

const nanosText = (nanos: bigint) => `${nanos}n`;
