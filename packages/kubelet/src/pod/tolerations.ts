import type { Pod, Taint, Toleration } from '@podwright/kube-api';

/** Whether a pod may be on a node with a taint that ends those that do not tolerate it (Toleration.ToleratesTaint). Pure. */
export function toleratesAll({ spec: { tolerations = [] } }: Pod, taints: readonly Taint[]): boolean {
  const ending = taints.filter(({ effect }) => effect === 'NoExecute');
  return ending.every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)));
}

function tolerates({ effect, key, operator = 'Equal', value = '' }: Toleration, taint: Taint): boolean {
  if ((effect || taint.effect) !== taint.effect || (key || taint.key) !== taint.key) return false;
  return operator === 'Exists' || (operator === 'Equal' && value === (taint.value ?? ''));
}
