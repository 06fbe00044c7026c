import { PodwrightError } from '@podwright/base';

/** A pod's bandwidth limits, in bits per second. */
export type Bandwidth = { ingressRate?: number; egressRate?: number };

/** Reads a pod's bandwidth annotations. Returns `undefined` if there are none. Throws `invalid_argument` for an invalid quantity. */
export function podBandwidth(annotations: Record<string, string>): Bandwidth | undefined {
  const ingressRate = rate(annotations, 'kubernetes.io/ingress-bandwidth');
  const egressRate = rate(annotations, 'kubernetes.io/egress-bandwidth');
  return ingressRate === undefined && egressRate === undefined ? undefined : { ingressRate, egressRate };
}

const SUFFIXES: Record<string, number> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};
/** The range of bandwidths that the kubelet accepts: 1k to 1P. */
const MIN_RATE = 1e3;
const MAX_RATE = 1e15;

/** Parses an annotation whose value is a quantity such as `10M`. */
function rate(annotations: Record<string, string>, name: string): number | undefined {
  const text = annotations[name];
  if (text === undefined) return undefined;
  const match = /^(\d+(?:\.\d+)?)(k|[MGTP]|[KMGTP]i)?$/.exec(text);
  const value = match === null ? Number.NaN : Math.round(Number(match[1]) * SUFFIXES[match[2] ?? '']!);
  if (!(value >= MIN_RATE && value <= MAX_RATE)) {
    throw new PodwrightError('invalid_argument', `read ${name} "${text}": it must be a quantity from 1k to 1P`);
  }
  return value;
}
