import type { Taint } from '../objects/node.ts';
import type { Toleration } from '../objects/pod.ts';

/** Whether any of the tolerations tolerates the taint (Toleration.ToleratesTaint). Pure. */
export function toleratesTaint(tolerations: readonly Toleration[] = [], taint: Taint): boolean {
  return tolerations.some((toleration) => tolerates(toleration, taint));
}

function tolerates({ effect, key, operator = 'Equal', value = '' }: Toleration, taint: Taint): boolean {
  if ((effect || taint.effect) !== taint.effect || (key || taint.key) !== taint.key) return false;
  return operator === 'Exists' || (operator === 'Equal' && value === (taint.value ?? ''));
}
