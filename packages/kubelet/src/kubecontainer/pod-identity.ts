import type { Pod } from '@podwright/kube-api';

/** Identifies the pod that a sandbox or container belongs to. */
export type PodIdentity = { name: string; namespace: string; uid: string };

export function podIdentity(pod: Pod): PodIdentity {
  const { name, namespace, uid } = pod.metadata;
  return { name, namespace, uid };
}

/** Returns `name_namespace(uid)`, the format used in upstream's messages. */
export function describePod(pod: Pod): string {
  return `${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`;
}
