import { parseQuantity, quantityValue } from '@podwright/kube-api';
import { amountOf, thresholdValue } from '@podwright/kubelet-configuration';

/** The signals whose hard thresholds are kept back, and of which resource. */
const KEPT_BACK = { 'memory.available': 'memory', 'nodefs.available': 'ephemeral-storage' } as const;

/** What of the node's memory and disk is kept back so that eviction begins before they run out: bytes by resource. */
export function hardEvictionReserve(
  thresholds: Readonly<Record<string, string>>,
  capacity: Record<string, string>,
): Record<string, string> {
  const kept = Object.entries(KEPT_BACK).flatMap(([signal, resource]) => {
    const threshold = thresholds[signal];
    const has = capacity[resource];
    const isNone = threshold === undefined || threshold === '100%'; // as upstream, where all is nothing
    return isNone || has === undefined
      ? []
      : [[resource, String(amountOf(thresholdValue(threshold), quantityValue(has)))]];
  });
  return Object.fromEntries(kept);
}

/** The sum of what is kept back for different reasons. */
export function addReserves(...reserves: Record<string, string>[]): Record<string, string> {
  const sum = new Map<string, bigint>();
  for (const [name, amount] of reserves.flatMap((one) => Object.entries(one)))
    sum.set(name, (sum.get(name) ?? 0n) + parseQuantity(amount).nanos);
  return Object.fromEntries([...sum].map(([name, nanos]) => [name, nanosText(nanos)]));
}

const nanosText = (nanos: bigint) => `${nanos}n`;
