import type { Pod } from '../objects/pod.ts';

/** Pods with at least this priority are critical (scheduling.k8s.io: SystemCriticalPriority). */
export const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

const NODE_CRITICAL_CLASS = 'system-node-critical';

/** Kubernetes' built-in priority classes and their values. */
const SYSTEM_CLASSES: Record<string, number> = {
  'system-cluster-critical': SYSTEM_CRITICAL_PRIORITY,
  [NODE_CRITICAL_CLASS]: 2_000_001_000,
};

/** Returns the pod's priority: its `priority` or, if that is unset, the value of its built-in priority class, or else 0. */
export function podPriority({ spec }: Pod): number {
  const name = spec.priorityClassName ?? '';
  return spec.priority ?? (Object.hasOwn(SYSTEM_CLASSES, name) ? SYSTEM_CLASSES[name]! : 0);
}

/** Whether the pod is cluster-critical or node-critical, based on its priority. */
export function isCriticalPod(pod: Pod): boolean {
  return podPriority(pod) >= SYSTEM_CRITICAL_PRIORITY;
}

/** Whether the pod is node-critical. As in upstream, this depends on the name of its priority class, not on its priority. */
export function isNodeCriticalPod({ spec }: Pod): boolean {
  return spec.priorityClassName === NODE_CRITICAL_CLASS;
}
