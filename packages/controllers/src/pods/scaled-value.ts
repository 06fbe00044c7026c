import type { IntOrString } from '@podwright/kube-api';

/** Returns a number, or a percentage of `total` (intstr.GetScaledValueFromIntOrPercent). Text that is not a percentage counts as 0. */
export function scaledValue(value: IntOrString, total: number, round: (value: number) => number): number {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  return percent === undefined ? 0 : round((Number(percent) * total) / 100);
}
