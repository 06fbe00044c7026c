/** Determines a pod's ResourceClaims and whether the pod may use them. Pure; throws with upstream's messages. */
import { PodwrightError } from '@podwright/base';
import { claimStatusesOf, type Pod, type ResourceClaim } from '@podwright/kube-api';

/**
 * A claim used by the pod. `mustOwn`: the claim was created for the pod and must be owned by it. `podClaim` is empty for the claim that
 * covers the pod's extended resources.
 */
export type NamedClaim = { podClaim: string; claimName: string; mustOwn: boolean };

/** Returns the claims that the pod references by name and those created for it from templates. Throws if one has not been created yet. */
export function claimsOf(pod: Pod): NamedClaim[] {
  const { metadata, spec } = pod;
  const { resourceClaimStatuses = [], extendedResourceClaimStatus: extended } = claimStatusesOf(pod);
  const where = `pod "${metadata.namespace}/${metadata.name}"`;
  const named = (spec.resourceClaims ?? []).flatMap((claim): NamedClaim[] => {
    const { name: podClaim, resourceClaimName, resourceClaimTemplateName } = claim;
    if (resourceClaimName !== undefined) return [{ podClaim, claimName: resourceClaimName, mustOwn: false }];
    if (resourceClaimTemplateName === undefined)
      throw refusal(`${where}, spec.resourceClaim "${podClaim}": none of the supported fields are set`);
    const made = resourceClaimStatuses.find(({ name }) => name === podClaim);
    if (made === undefined) throw refusal(`${where}: ResourceClaim not created yet`);
    return made.resourceClaimName === undefined
      ? [] // the pod's status says that no claim is needed, so there is nothing to prepare
      : [{ podClaim, claimName: made.resourceClaimName, mustOwn: true }];
  });
  if (extended === undefined) return named;
  return [...named, { podClaim: '', claimName: extended.resourceClaimName, mustOwn: false }];
}

/** Throws if the pod may not use the claim. */
export function checkClaim({ metadata: pod }: Pod, { metadata, status }: ResourceClaim, mustOwn: boolean): void {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (mustOwn && owner?.uid !== pod.uid) {
    const names = `ResourceClaim ${metadata.namespace}/${metadata.name} was not created for Pod ${pod.namespace}/${pod.name}`;
    throw refusal(`${names} (Pod is not owner)`);
  }
  const isReserved = (status?.reservedFor ?? []).some(({ uid }) => uid === pod.uid);
  if (!isReserved)
    throw refusal(
      `pod ${pod.name} (${pod.uid}) is not allowed to use ResourceClaim ${metadata.name} (${metadata.uid ?? ''})`,
    );
  if (status?.allocation === undefined) throw refusal(`ResourceClaim ${metadata.name}: not allocated`);
}

export function refusal(why: string): PodwrightError {
  return new PodwrightError('failed_precondition', why);
}
