/** Decides when a ResourceClaim is released and removed (pkg/controller/resourceclaim/controller.go, syncClaim). Pure. */
import type { Pod } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import type { ClaimConsumer, StoredClaim } from '../objects/resource-claim.ts';
import { controllerOf, isOfKind } from '../pods/controller-reference.ts';
import { isEnded } from '../pods/pod-state.ts';

export const CLAIM_FINALIZER = 'resource.kubernetes.io/delete-protection';

/** Whether the pod no longer needs its claims: it is in a terminal phase, or it is being deleted and was never assigned to a node. */
export function isDone(pod: Pod): boolean {
  return isEnded(pod) || (pod.metadata.deletionTimestamp !== undefined && (pod.spec.nodeName ?? '') === '');
}

export type ClaimDecision = {
  /** The claim with its new status, if the status changes. */
  released?: StoredClaim;
  /** Whether to remove the claim's finalizer after writing its status. */
  removesFinalizer: boolean;
  /** Whether the claim was generated for a pod that no longer needs it. */
  isUnused: boolean;
};

export type ClaimState = {
  claim: StoredClaim;
  podOf: (name: string) => Pod | undefined;
  /** UIDs of consumers that exist neither in the cache nor on the server. */
  absent: ReadonlySet<string>;
};

/** Returns the claim's consumers that are not in the pod cache and must be looked up on the server. */
export function unknownConsumers({ claim, podOf }: Omit<ClaimState, 'absent'>): ClaimConsumer[] {
  return (claim.status?.reservedFor ?? []).filter((one) => isPod(one) && podOf(one.name) === undefined);
}

/** Decides what happens to a claim: without consumers, it is deallocated; if it was generated, it is deleted once its pod is done. */
export function decideClaim({ claim, podOf, absent }: ClaimState): ClaimDecision {
  const { reservedFor = [], allocation } = claim.status ?? {};
  const remaining = reservedFor.filter((one) => !isPod(one) || isUsing(one, { podOf, absent }));
  const hasFinalizer = (claim.metadata.finalizers ?? []).includes(CLAIM_FINALIZER);
  const isDeleting = claim.metadata.deletionTimestamp !== undefined;
  const isReduced = remaining.length < reservedFor.length;
  const isFree = remaining.length === 0;
  const deallocates = hasFinalizer && isFree && (isReduced || isDeleting);
  const { allocation: _allocation, reservedFor: _reserved, ...rest } = claim.status ?? {};
  const status = {
    ...rest,
    ...(allocation === undefined || deallocates ? {} : { allocation }),
    ...(isFree ? {} : { reservedFor: remaining }),
  };
  const changes = isReduced || (deallocates && allocation !== undefined);
  return {
    ...(changes ? { released: { ...claim, status } } : {}),
    removesFinalizer: deallocates,
    isUnused: isFree && !isDeleting && isOfDonePod(claim, podOf),
  };
}

function isPod({ apiGroup = '', resource }: ClaimConsumer): boolean {
  return apiGroup === '' && resource === 'pods';
}

function isUsing({ name, uid }: ClaimConsumer, { podOf, absent }: Omit<ClaimState, 'claim'>): boolean {
  const pod = podOf(name);
  if (pod === undefined) return !absent.has(uid);
  return pod.metadata.uid === uid && !isDone(pod);
}

function isOfDonePod(claim: StoredClaim, podOf: ClaimState['podOf']): boolean {
  const owner = controllerOf(claim);
  if (owner === undefined || !isOfKind(owner, PODS)) return false;
  const pod = podOf(owner.name);
  return pod !== undefined && (pod.metadata.uid !== owner.uid || isDone(pod));
}
