import type { Pod } from '@podwright/kube-api';

/** Which pod something of the runtime belongs to. */
export type PodIdentity = { name: string; namespace: string; uid: string };

export function podIdentity(pod: Pod): PodIdentity {
  const { name, namespace, uid } = pod.metadata;
  return { name, namespace, uid };
}

/** `name_namespace(uid)`, how the kubelet's messages name a pod. */
export function describePod(pod: Pod): string {
  return `${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`;
}
