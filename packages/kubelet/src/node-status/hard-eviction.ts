import { parseQuantity, quantityValue } from '../api/quantity.ts';

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
    return threshold === undefined || has === undefined ? [] : [[resource, String(bytesOf(threshold, has))]];
  });
  return Object.fromEntries(kept);
}

/** Percentages are counted with numbers of 32 bits, as upstream's, which shows in the last digits. */
function bytesOf(threshold: string, capacity: string): bigint {
  if (!threshold.endsWith('%')) return quantityValue(threshold);
  const share = Math.fround(Math.fround(Number(threshold.slice(0, -1))) / 100);
  return BigInt(Math.trunc(Number(quantityValue(capacity)) * share));
}

/** The sum of what is kept back for different reasons. */
export function addReserves(...reserves: Record<string, string>[]): Record<string, string> {
  const sum = new Map<string, bigint>();
  for (const [name, amount] of reserves.flatMap((one) => Object.entries(one)))
    sum.set(name, (sum.get(name) ?? 0n) + parseQuantity(amount).nanos);
  return Object.fromEntries([...sum].map(([name, nanos]) => [name, nanosText(nanos)]));
}

const nanosText = (nanos: bigint) => `${nanos}n`;
