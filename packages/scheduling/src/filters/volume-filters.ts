/** Filters for a pod's claims (upstream's VolumeRestrictions, VolumeBinding and VolumeZone). */
import { type Pod, storageClassOf } from '@podwright/kube-api';
import type { Claim, PersistentVolume } from '../cluster/objects.ts';
import { podClaims } from '../cluster/pod-claims.ts';
import type { NodeState, Snapshot } from '../cluster/snapshot.ts';
import { type Filter, final, type Refusal, removable } from './filter.ts';
import { planVolumes } from './volume-plan.ts';

/** Rejects nodes if one of the pod's claims can be used by only one pod (ReadWriteOncePod) and is already in use. */
export const volumeRestrictions: Filter = (pod, snapshot) => {
  const exclusive = podClaims(pod).filter(({ name }) =>
    snapshot.claim(pod.metadata.namespace, name)?.spec?.accessModes?.includes('ReadWriteOncePod'),
  );
  if (exclusive.length === 0) return undefined;
  const uses = (other: Pod) =>
    other.metadata.namespace === pod.metadata.namespace &&
    podClaims(other).some(({ name }) => exclusive.some((claim) => claim.name === name));
  const reason =
    'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod';
  const user = snapshot.nodes.find(({ pods }) => pods.some(uses));
  return (node) => {
    if (node.pods.some(uses)) return removable(reason);
    return user === undefined || user.name === node.name ? undefined : final(reason);
  };
};

export const volumeBinding: Filter = (pod, snapshot) => {
  const claims = podClaims(pod);
  if (claims.length === 0) return undefined;
  const refusal = refuseClaims(pod, snapshot);
  if (refusal !== undefined) return refusal;
  return (node) => {
    const { reasons } = planVolumes(pod, snapshot, node);
    return reasons.length > 0 ? final(...reasons) : undefined;
  };
};

function refuseClaims(pod: Pod, snapshot: Snapshot): Refusal | undefined {
  const { namespace } = pod.metadata;
  const claims: Claim[] = [];
  for (const { name, isEphemeral } of podClaims(pod)) {
    const claim = snapshot.claim(namespace, name);
    const refusal = claim === undefined ? absentClaim(name, isEphemeral) : refuseClaim(claim, pod, isEphemeral);
    if (refusal !== undefined) return { refusal };
    claims.push(claim!);
  }
  const isUnbound = claims.some((claim) => !isBound(claim) && !waitsForPod(claim, snapshot));
  return isUnbound ? { refusal: 'pod has unbound immediate PersistentVolumeClaims' } : undefined;
}

function absentClaim(name: string, isEphemeral: boolean): string {
  if (isEphemeral) return `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`;
  return `persistentvolumeclaim "${name}" not found`;
}

function refuseClaim({ metadata, spec, status }: Claim, pod: Pod, isEphemeral: boolean): string | undefined {
  if (status?.phase === 'Lost')
    return `persistentvolumeclaim "${metadata.name}" bound to non-existent persistentvolume "${spec?.volumeName ?? ''}"`;
  if (metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${metadata.name}" is being deleted`;
  const isOwned = metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === pod.metadata.uid);
  if (!isEphemeral || isOwned) return undefined;
  const { namespace, name } = pod.metadata;
  return `PVC ${metadata.namespace}/${metadata.name} was not created for pod ${namespace}/${name} (pod is not owner)`;
}

/** Whether a claim is fully bound: the claim and its volume refer to each other. */
export function isBound({ metadata, spec }: Claim): boolean {
  return (spec?.volumeName ?? '') !== '' && metadata.annotations?.['pv.kubernetes.io/bind-completed'] !== undefined;
}

/** Whether a claim is bound only once a pod using it has been assigned to a node. */
function waitsForPod(claim: Claim, snapshot: Snapshot): boolean {
  const binding = snapshot.storageClass(storageClassOf(claim))?.volumeBindingMode;
  return (claim.spec?.volumeName ?? '') === '' && binding === 'WaitForFirstConsumer';
}

const ZONE_LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** Rejects nodes whose zone and region labels do not match those of the pod's volumes. Nodes without such labels are accepted. */
export const volumeZone: Filter = (pod, snapshot) => {
  const volumes = podClaims(pod).flatMap(({ name }) => {
    const volumeName = snapshot.claim(pod.metadata.namespace, name)?.spec?.volumeName ?? '';
    return snapshot.volume(volumeName) ?? [];
  });
  if (volumes.length === 0) return undefined;
  return ({ labels }) => {
    if (!ZONE_LABELS.some((label) => Object.hasOwn(labels, label))) return undefined;
    const isElsewhere = (volume: PersistentVolume) => ZONE_LABELS.some((label) => !isInZone(volume, label, labels));
    return volumes.some(isElsewhere) ? final('node(s) had no available volume zone') : undefined;
  };
};

/**
 * Whether a node's zone or region (`label`) matches the volume's; true if the volume does not have this label. The label of a volume in
 * several zones contains them all, joined with `__`.
 */
function isInZone({ metadata }: PersistentVolume, label: string, labels: NodeState['labels']): boolean {
  const zones = metadata.labels?.[label];
  return zones === undefined || (labels[label] !== undefined && zones.split('__').includes(labels[label]));
}
