import { isCriticalPod, isStaticPod, type Pod, qosClass, type Toleration } from '@podwright/kube-api';
import type { PressureCondition } from '@podwright/kubelet-configuration';

/**
 * `isStandalone`: the node is not managed by a cluster. Its static pods are ordinary workloads, so only their priority makes them critical.
 */
export type NodeKind = { isStandalone: boolean };

/** Whether the pod is always admitted and never evicted: true for pods with critical priority and, in a cluster, for all static pods. */
export function isExempt(pod: Pod, { isStandalone }: NodeKind): boolean {
  return isCriticalPod(pod) || (!isStandalone && isStaticPod(pod));
}

/** Returns upstream's reason and message if the node's pressure conditions prevent the pod's admission. Pure. */
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

/** Whether the toleration matches the memory pressure taint, which has no value. */
function toleratesMemoryPressure({ key, operator, value, effect }: Toleration): boolean {
  if (effect && effect !== 'NoSchedule') return false;
  if (key && key !== 'node.kubernetes.io/memory-pressure') return false;
  return operator === 'Exists' || ((operator || 'Equal') === 'Equal' && !value);
}
