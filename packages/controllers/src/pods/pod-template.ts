import type { KubeObject, OwnerReference, Pod, PodSpec } from '@podwright/kube-api';

/** core/v1 PodTemplateSpec. */
export type PodTemplate = { metadata?: KubeObject['metadata']; spec: PodSpec };

/** A pod to create. The server generates the name if `generateName` is set. */
export type NewPod = Omit<Pod, 'metadata' | 'status'> & { metadata: KubeObject['metadata'] };

/** Builds a pod from a template for its controller (controller.GetPodFromTemplate). */
export function podFromTemplate(
  { metadata: { labels, annotations, finalizers } = {}, spec }: PodTemplate,
  controller: OwnerReference,
  ownerName: string,
): NewPod {
  const metadata = {
    generateName: namePrefix(ownerName),
    ...(labels === undefined ? {} : { labels: { ...labels } }),
    ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
    ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
    ownerReferences: [controller],
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: structuredClone(spec) };
}

/** Longest prefix that leaves room for five generated characters in a pod name. */
const MAX_PREFIX_LENGTH = 253 - 5;

/** Returns the prefix for the generated names of an owner's pods: `OWNER-`, or `OWNER` if the names would otherwise be too long. */
function namePrefix(ownerName: string): string {
  const prefix = `${ownerName}-`;
  return prefix.length > MAX_PREFIX_LENGTH ? ownerName : prefix;
}
