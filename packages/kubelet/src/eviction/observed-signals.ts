import { formatQuantity } from '@podwright/kube-api';
import {
  amountOf,
  binaryText,
  isInBytes,
  type Signal,
  type Threshold,
  valueText,
} from '@podwright/kubelet-configuration';

/** How much there is of what a signal tells, and at most: bytes or pieces. `atMs` is monotonic. */
export type Observation = { available: bigint; capacity: bigint; atMs: number };
export type Observations = ReadonlyMap<Signal, Observation>;

/** What there is as Kubernetes writes it: bytes with binary suffixes, pieces with decimal ones. */
export function availableText(signal: Signal, { available }: Observation): string {
  return isInBytes(signal) ? binaryText(available) : formatQuantity(available * 1_000_000_000n, '');
}

/** The thresholds below which there is less, `withReclaim` also those of which what is to be freed besides is not yet. Pure. */
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

/** How much less there is than the threshold asks for; zero or less if there is enough, or if the signal was not observed. Pure. */
export function missingOf({ signal, value }: Threshold, observations: Observations): bigint {
  const observed = observations.get(signal);
  return observed === undefined ? 0n : amountOf(value, observed.capacity) - observed.available;
}

/** A threshold that is met, for people to read. */
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
