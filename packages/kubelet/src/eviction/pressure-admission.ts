import { isCriticalPod, isStaticPod, type Pod, qosClass, type Toleration } from '@podwright/kube-api';
import type { PressureCondition } from '@podwright/kubelet-configuration';

/** A lone node has only static pods, so there only their priority makes them critical. */
export type NodeKind = { isLone: boolean };

/** Pods that are never evicted and always admitted: those of critical priority, and static ones on a node of a cluster. */
export function isExempt(pod: Pod, { isLone }: NodeKind): boolean {
  return isCriticalPod(pod) || (!isLone && isStaticPod(pod));
}

/** Upstream's reason and message if the pod is rejected because of the node's pressure conditions. Pure. */
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

/** Whether the pod tolerates the taint of nodes under memory pressure, which has no value. */
function toleratesMemoryPressure({ key, operator, value, effect }: Toleration): boolean {
  if (effect && effect !== 'NoSchedule') return false;
  if (key && key !== 'node.kubernetes.io/memory-pressure') return false;
  return operator === 'Exists' || ((operator || 'Equal') === 'Equal' && !value);
}
