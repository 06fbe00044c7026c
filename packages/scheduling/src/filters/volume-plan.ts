import { compareQuantities, matchesLabelSelector, matchesTerm, type Pod, storageClassOf } from '@podwright/kube-api';
import type { Claim, PersistentVolume, StorageClass } from '../cluster/objects.ts';
import { podClaims } from '../cluster/pod-claims.ts';
import type { NodeState, Snapshot } from '../cluster/snapshot.ts';

/** What happens to a pod's unbound claims when the pod is bound to a node, or why that is not possible. */
export type VolumePlan = {
  reasons: string[];
  /** Existing volumes to be bound to claims. */
  bindings: { claim: Claim; volume: PersistentVolume }[];
  /** Claims for which a provisioner has to create volumes accessible from the node. */
  provisions: Claim[];
};

const NOT_PROVISIONED = 'kubernetes.io/no-provisioner';

/** Plans how a pod's claims, all of which must exist, would be bound if the pod ran on this node. Pure. */
export function planVolumes(pod: Pod, snapshot: Snapshot, node: NodeState): VolumePlan {
  const plan: VolumePlan = { reasons: [], bindings: [], provisions: [] };
  const claims = podClaims(pod).flatMap(({ name }) => snapshot.claim(pod.metadata.namespace, name) ?? []);
  const isBound = (claim: Claim) => (claim.spec?.volumeName ?? '') !== '';
  const volumes = claims.filter(isBound).map(({ spec }) => snapshot.volume(spec?.volumeName ?? ''));
  if (volumes.some((volume) => volume !== undefined && !reaches(node, volume)))
    plan.reasons.push("node(s) didn't match PersistentVolume's node affinity");
  const bySize = claims.filter((claim) => !isBound(claim)).sort(compareSizes);
  const places = bySize.map((claim) => placeClaim(claim, { snapshot, node, plan }));
  if (places.includes(false)) plan.reasons.push("node(s) didn't find available persistent volumes to bind");
  if (volumes.includes(undefined))
    plan.reasons.push('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)');
  return plan;
}

type PlanContext = { snapshot: Snapshot; node: NodeState; plan: VolumePlan };

/** Adds the claim to the plan. Returns whether the node already has a matching volume for the claim, or one can be provisioned for it. */
function placeClaim(claim: Claim, { snapshot, node, plan }: PlanContext): boolean {
  const selected = claim.metadata.annotations?.[SELECTED_NODE];
  const taken = plan.bindings.map(({ volume }) => volume);
  const candidates = snapshot.volumes.filter(
    (volume) => !taken.includes(volume) && isFor(volume, claim) && reaches(node, volume),
  );
  const [volume] = candidates.sort((a, b) => compareQuantities(sizeOf(a), sizeOf(b)));
  if (selected === undefined && volume !== undefined) {
    plan.bindings.push({ claim, volume });
    return true;
  }
  if (selected !== undefined && selected !== node.name) return false; // a provisioner is at work for another node
  const storageClass = snapshot.storageClass(storageClassOf(claim));
  if (storageClass === undefined || !canProvision(storageClass, node)) return false;
  plan.provisions.push(claim);
  return true;
}

/** Annotation by which the scheduler asks a provisioner to create a claim's volume on this node. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

function canProvision({ provisioner = '', allowedTopologies = [] }: StorageClass, { labels }: NodeState): boolean {
  if (provisioner === '' || provisioner === NOT_PROVISIONED) return false;
  const isAllowed = ({ matchLabelExpressions = [] }: (typeof allowedTopologies)[number]) =>
    matchLabelExpressions.every(({ key, values }) => labels[key] !== undefined && values.includes(labels[key]));
  return allowedTopologies.length === 0 || allowedTopologies.some(isAllowed);
}

/** Whether the volume is free and satisfies the claim, or is reserved for it. */
function isFor(volume: PersistentVolume, claim: Claim): boolean {
  const { metadata, spec = {}, status } = volume;
  const wanted = claim.spec ?? {};
  const { claimRef } = spec;
  if (claimRef !== undefined) {
    const isSame = claimRef.namespace === claim.metadata.namespace && claimRef.name === claim.metadata.name;
    return isSame && (claimRef.uid ?? '') !== '' && claimRef.uid === claim.metadata.uid;
  }
  const isFree = status?.phase === 'Available' && metadata.deletionTimestamp === undefined;
  const hasModes = (wanted.accessModes ?? []).every((mode) => spec.accessModes?.includes(mode));
  return (
    isFree &&
    hasModes &&
    storageClassOf(volume) === storageClassOf(claim) &&
    (spec.volumeAttributesClassName ?? '') === (wanted.volumeAttributesClassName ?? '') &&
    (spec.volumeMode ?? 'Filesystem') === (wanted.volumeMode ?? 'Filesystem') &&
    compareQuantities(spec.capacity?.storage ?? '0', wanted.resources?.requests?.storage ?? '0') >= 0 &&
    (wanted.selector === undefined || matchesLabelSelector(wanted.selector, metadata.labels))
  );
}

/** Whether a volume is accessible from the node. */
function reaches({ name, labels }: NodeState, { spec }: PersistentVolume): boolean {
  const required = spec?.nodeAffinity?.required;
  return required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(term, { name, labels }));
}

const sizeOf = ({ spec }: PersistentVolume): string => spec?.capacity?.storage ?? '0';

const compareSizes = (a: Claim, b: Claim): number =>
  compareQuantities(a.spec?.resources?.requests?.storage ?? '0', b.spec?.resources?.requests?.storage ?? '0');
