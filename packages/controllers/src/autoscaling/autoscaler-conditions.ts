import { findCondition, formatTime } from '@podwright/kube-api';
import type { AutoscalerCondition } from '../objects/horizontal-pod-autoscaler.ts';

export type ConditionChange = Required<Omit<AutoscalerCondition, 'lastTransitionTime'>>;

/** Returns the conditions after setting one of them. Its transition time changes only if its status does. */
export function withCondition(
  conditions: readonly AutoscalerCondition[],
  change: ConditionChange,
  nowMs: number,
): AutoscalerCondition[] {
  const known = findCondition(conditions, change.type);
  const lastTransitionTime = known?.status === change.status ? known.lastTransitionTime : formatTime(nowMs);
  const next = { ...change, lastTransitionTime };
  if (known === undefined) return [...conditions, next];
  return conditions.map((one) => (one === known ? next : one));
}
