import { isCriticalPod, isStaticPod, type Pod, qosClass, type Toleration } from '@podwright/kube-api';
import type { PressureCondition } from '@podwright/kubelet-configuration';

/** Whose pods are critical: a lone node has none but static ones, of which only the priority tells. */
export type NodeKind = { isLone: boolean };

/** Pods that are never evicted and always admitted: those of critical priority, and static ones of a cluster's node. */
export function isExempt(pod: Pod, { isLone }: NodeKind): boolean {
  return isCriticalPod(pod) || (!isLone && isStaticPod(pod));
}

/** Why a pod may not run on a node that is short of something, if so: upstream's reason and words. Pure. */
export function refuseUnderPressure(
  pod: Pod,
  conditions: readonly PressureCondition[],
  node: NodeKind,
): { reason: string; message: string } | undefined {
  if (conditions.length === 0 || isExempt(pod, node)) return undefined;
  const onlyMemory = conditions.length === 1 && conditions[0] === 'MemoryPressure';
  if (onlyMemory && (qosClass(pod) !== 'BestEffort' || pod.spec.tolerations?.some(toleratesMemoryPressure)))
    return undefined;
  return { reason: 'Evicted', message: `The node had condition: [${conditions.join(' ')}]. ` };
}

/** The taint that a cluster puts on such a node; it has no value. */
function toleratesMemoryPressure({ key, operator, value, effect }: Toleration): boolean {
  if (effect && effect !== 'NoSchedule') return false;
  if (key && key !== 'node.kubernetes.io/memory-pressure') return false;
  return operator === 'Exists' || ((operator || 'Equal') === 'Equal' && !value);
}
