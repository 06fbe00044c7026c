import { formatQuantity } from '@podwright/kube-api';
import { isInBytes, type Signal } from './signals.ts';
import { amountOf, binaryText, type Threshold, valueText } from './thresholds.ts';

/**
 * The available amount and capacity of an eviction signal's resource, in bytes, inodes or processes. `atMs`: monotonic time of the
 * observation.
 */
export type Observation = { available: bigint; capacity: bigint; atMs: number };
export type Observations = ReadonlyMap<Signal, Observation>;

/** Returns the available amount as a Kubernetes quantity, with binary suffixes for bytes and decimal ones for counts. */
export function availableText(signal: Signal, { available }: Observation): string {
  return isInBytes(signal) ? binaryText(available) : formatQuantity(available * 1_000_000_000n, '');
}

/**
 * Returns the thresholds that are met and, if `withReclaim` is set, also those whose minimum reclaim is not available yet. Pure function.
 */
export function thresholdsMet(
  thresholds: readonly Threshold[],
  observations: Observations,
  { withReclaim }: { withReclaim: boolean },
): Threshold[] {
  return thresholds.filter(({ signal, value, minReclaim }) => {
    const observed = observations.get(signal);
    if (observed === undefined) return false;
    const more = withReclaim && minReclaim !== undefined ? amountOf(minReclaim, observed.capacity) : 0n;
    return observed.available < amountOf(value, observed.capacity) + more;
  });
}

/**
 * Returns how far the available amount is below the threshold: zero or negative if enough is available, zero if the signal was not
 * observed. Pure function.
 */
export function missingOf({ signal, value }: Threshold, observations: Observations): bigint {
  const observed = observations.get(signal);
  return observed === undefined ? 0n : amountOf(value, observed.capacity) - observed.available;
}

/** Returns the amount of the signal's resource in use by pods and the host; zero if the signal was not observed. Pure function. */
export function usedOf({ signal }: Threshold, observations: Observations): bigint {
  const observed = observations.get(signal);
  return observed === undefined ? 0n : observed.capacity - observed.available;
}

/** Describes a met threshold for logs and users. */
export function thresholdInWords({ signal, value, gracePeriodMs }: Threshold, observations: Observations): string {
  const observed = observations.get(signal);
  const has =
    observed === undefined
      ? 'unknown'
      : `${readable(signal, observed.available)} of ${readable(signal, observed.capacity)}`;
  return `${signal} is ${has}, below ${valueText(value)} (${gracePeriodMs === 0 ? 'evictionHard' : 'evictionSoft'})`;
}

function readable(signal: Signal, amount: bigint): string {
  if (!isInBytes(signal)) return String(amount);
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, Number(amount))) / 10));
  return `${power === 0 ? amount : (Number(amount) / 1024 ** power).toFixed(1)} ${units[power]}`;
}
