import type { Pod } from './pod.ts';

/** The classes that Kubernetes itself has, with their values (scheduling.k8s.io: SystemCriticalPriority). */
const SYSTEM_CLASSES: Record<string, number> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/** The pod's priority: its number, or that of the class that every cluster has; 0 for none. */
export function podPriority({ spec }: Pod): number {
  const name = spec.priorityClassName ?? '';
  return spec.priority ?? (Object.hasOwn(SYSTEM_CLASSES, name) ? SYSTEM_CLASSES[name]! : 0);
}

/** Whether a cluster or its nodes do not work without the pod. */
export function isCriticalPod(pod: Pod): boolean {
  return podPriority(pod) >= SYSTEM_CLASSES['system-cluster-critical']!;
}

/** Whether the node does not work without the pod. */
export function isNodeCriticalPod(pod: Pod): boolean {
  return podPriority(pod) >= SYSTEM_CLASSES['system-node-critical']!;
}
