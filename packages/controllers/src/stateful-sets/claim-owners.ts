/** The owners of a StatefulSet's claims according to its retention policy: the garbage collector deletes a claim along with its owner. */
import type { KubeObject, OwnerReference, Pod } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import { STATEFUL_SETS, type StatefulSet } from '../objects/stateful-set.ts';
import { controllerReference, isOfKind, type Owner } from '../pods/controller-reference.ts';

export type ClaimOwnersInput = {
  claim: KubeObject;
  set: StatefulSet;
  pod: Pod;
  /** Whether the pod's ordinal is no longer in the StatefulSet's range. */
  isCondemned: boolean;
};

/** Returns the owner references that the claim should have, or nothing if they are up to date (isClaimOwnerUpToDate). */
export function changedOwners(input: ClaimOwnersInput): OwnerReference[] | undefined {
  const { claim, set, pod } = input;
  const known = claim.metadata.ownerReferences ?? [];
  if (isStale(known, set, 'set') || isStale(known, pod, 'pod')) return undefined; // of an earlier set: for the garbage collector
  const others = known.filter((reference) => !refersTo(reference, set, 'set') && !refersTo(reference, pod, 'pod'));
  const wanted = hasForeignController(input) ? [] : ownersOf(input);
  const ours = known.filter((reference) => !others.includes(reference));
  const isSame =
    ours.length === wanted.length &&
    wanted.every(({ uid }) => ours.some((one) => one.uid === uid && one.controller === true));
  return isSame ? undefined : [...others, ...wanted];
}

/** Whether the policy calls for an owner, but another object controls the claim. */
export function hasForeignController({ claim, set, pod }: ClaimOwnersInput): boolean {
  const { whenScaled, whenDeleted } = retentionOf(set);
  if (whenScaled === 'Retain' && whenDeleted === 'Retain') return false;
  return (claim.metadata.ownerReferences ?? []).some(
    (reference) =>
      reference.controller === true && !refersTo(reference, set, 'set') && !refersTo(reference, pod, 'pod'),
  );
}

/** Whether the claim is about to be deleted along with an earlier pod of this name. A new pod waits for that. */
export function isStaleClaim(set: StatefulSet, claim: KubeObject, newPodName: string): boolean {
  if (retentionOf(set).whenScaled === 'Retain') return false;
  return (claim.metadata.ownerReferences ?? []).some(
    (reference) => isOfKind(reference, PODS) && reference.name === newPodName,
  );
}

function ownersOf({ set, pod, isCondemned }: ClaimOwnersInput): OwnerReference[] {
  const { whenScaled, whenDeleted } = retentionOf(set);
  if (whenScaled === 'Delete' && isCondemned) return [controllerReference(PODS, pod as Owner)];
  return whenDeleted === 'Delete' ? [controllerReference(STATEFUL_SETS, set)] : [];
}

function retentionOf({ spec }: StatefulSet): { whenScaled: string; whenDeleted: string } {
  const { whenScaled = 'Retain', whenDeleted = 'Retain' } = spec.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenScaled, whenDeleted };
}

type OwnerKind = 'set' | 'pod';

function refersTo(reference: OwnerReference, { metadata }: KubeObject, kind: OwnerKind): boolean {
  return isOfKind(reference, kind === 'set' ? STATEFUL_SETS : PODS) && reference.name === metadata.name;
}

/** Whether one of the owner references has the owner's kind and name but a different UID, because the owner was recreated. */
function isStale(references: readonly OwnerReference[], owner: KubeObject, kind: OwnerKind): boolean {
  const reference = references.find((one) => refersTo(one, owner, kind));
  return reference !== undefined && reference.uid !== owner.metadata.uid;
}
