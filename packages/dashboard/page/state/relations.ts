/** Relations between objects: owners, owned objects, and objects used by a pod. Pure functions. */
import { podReferences } from '@podwright/kube-api';
import type { KubeObject, ObjectName, Pod, ServiceObject } from '../api/objects.ts';

/** A related object, and a verb such as `mounts` that describes the relation. */
export type Relation = { object: ObjectName; note: string };

/** The kinds of the objects that each workload kind creates. */
export const OWNED_KINDS: Record<string, string[]> = {
  Deployment: ['ReplicaSet'],
  ReplicaSet: ['Pod'],
  ReplicationController: ['Pod'],
  StatefulSet: ['Pod', 'ControllerRevision'],
  DaemonSet: ['Pod', 'ControllerRevision'],
  Job: ['Pod'],
  CronJob: ['Job'],
};

/** Returns the objects owned by the object with this UID. */
export function ownedBy<T extends KubeObject>(uid: string | undefined, objects: readonly T[]): T[] {
  return objects.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false);
}

/** Returns an object's controller or, if it has none, its first owner. */
export function ownerOf({ metadata }: KubeObject) {
  const owners = metadata.ownerReferences ?? [];
  return owners.find(({ controller }) => controller === true) ?? owners[0];
}

/** Returns the objects used by a pod: its node, service account and claims, and the ConfigMaps and Secrets it reads. */
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
