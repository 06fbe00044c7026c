/** Relations between objects: owners, owned objects, and the objects that a pod uses. Pure. */
import { podReferences } from '@podwright/kube-api';
import type { KubeObject, ObjectName, Pod, ServiceObject } from '../api/objects.ts';

/** An object, and a verb such as `mounts` that says how it is used. */
export type Relation = { object: ObjectName; note: string };

/** The kinds of objects that each kind of workload creates. */
export const OWNED_KINDS: Record<string, string[]> = {
  Deployment: ['ReplicaSet'],
  ReplicaSet: ['Pod'],
  ReplicationController: ['Pod'],
  StatefulSet: ['Pod', 'ControllerRevision'],
  DaemonSet: ['Pod', 'ControllerRevision'],
  Job: ['Pod'],
  CronJob: ['Job'],
};

/** Returns the objects of a list whose owner has this UID. */
export function ownedBy<T extends KubeObject>(uid: string | undefined, objects: readonly T[]): T[] {
  return objects.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false);
}

/** Returns the controller of an object or, without one, its first owner. */
export function ownerOf({ metadata }: KubeObject) {
  const owners = metadata.ownerReferences ?? [];
  return owners.find(({ controller }) => controller === true) ?? owners[0];
}

/** Returns the objects that a pod uses: its node, service account and claims, and the ConfigMaps and Secrets that it reads. */
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

/** Reports whether a Service selects a pod. */
export function selectsPod({ metadata, spec }: ServiceObject, pod: Pod): boolean {
  const wanted = Object.entries(spec?.selector ?? {});
  const { labels = {}, namespace } = pod.metadata;
  return metadata.namespace === namespace && wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}
