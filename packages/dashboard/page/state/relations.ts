/** How objects belong together: owners, what they own, and what pods use. Pure. */
import { podReferences } from '@podwright/kube-api';
import type { KubeObject, ObjectName, Pod, ServiceObject } from '../api/objects.ts';

export type Relation = { object: ObjectName; note: string };

/** Kinds whose objects each kind of workload makes. */
export const OWNED_KINDS: Record<string, string[]> = {
  Deployment: ['ReplicaSet'],
  ReplicaSet: ['Pod'],
  ReplicationController: ['Pod'],
  StatefulSet: ['Pod', 'ControllerRevision'],
  DaemonSet: ['Pod', 'ControllerRevision'],
  Job: ['Pod'],
  CronJob: ['Job'],
};

/** The objects of a list that an object owns. */
export function ownedBy<T extends KubeObject>(uid: string | undefined, objects: readonly T[]): T[] {
  return objects.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false);
}

/** The controller of an object, else its first owner. */
export function ownerOf({ metadata }: KubeObject) {
  const owners = metadata.ownerReferences ?? [];
  return owners.find(({ controller }) => controller === true) ?? owners[0];
}

/** The objects that a pod uses: its node, account, claims, and what its containers read. */
export function usedBy(pod: Pod): Relation[] {
  const { namespace } = pod.metadata;
  const { nodeName, serviceAccountName, volumes = [] } = pod.spec;
  const found: Relation[] = [];
  const add = (kind: string, name: string | undefined, note: string) => {
    if (!name || found.some(({ object }) => object.kind === kind && object.name === name)) return;
    found.push({ object: { kind, namespace: kind === 'Node' ? '' : namespace, name }, note });
  };
  add('Node', nodeName, 'runs on');
  add('ServiceAccount', serviceAccountName, 'acts as');
  for (const { persistentVolumeClaim } of volumes)
    add('PersistentVolumeClaim', persistentVolumeClaim?.claimName, 'mounts');
  for (const { kind, name, optional } of podReferences(pod))
    if (kind !== 'RuntimeClass') add(kind, name, optional ? 'reads, if it exists' : 'reads');
  return found;
}

/** Whether a Service selects a pod. */
export function selectsPod({ metadata, spec }: ServiceObject, pod: Pod): boolean {
  const wanted = Object.entries(spec?.selector ?? {});
  const { labels = {}, namespace } = pod.metadata;
  return metadata.namespace === namespace && wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}
