/** The parts of a pod's status about ResourceClaims, which the scheduler and controllers write. */
import type { Pod } from './pod.ts';
import type { PodResourceClaimStatus } from './resource-claim.ts';

/** The claim that the scheduler created for extended resources of DRA drivers, and its requests by container and resource. */
type ExtendedResourceClaimStatus = {
  resourceClaimName: string;
  requestMappings: { containerName: string; resourceName: string; requestName: string }[];
};

/** Fields of a pod's status that the kubelet only reads. */
type ForeignStatus = {
  resourceClaimStatuses?: PodResourceClaimStatus[];
  extendedResourceClaimStatus?: ExtendedResourceClaimStatus;
};

export const claimStatusesOf = (pod: Pod): ForeignStatus => (pod.status ?? {}) as ForeignStatus;

/** Whether a ResourceClaim provides this extended resource; if so, device plugins must not allocate it. */
export function isClaimed(pod: Pod, container: string, resource: string): boolean {
  const mappings = claimStatusesOf(pod).extendedResourceClaimStatus?.requestMappings ?? [];
  return mappings.some((one) => one.containerName === container && one.resourceName === resource);
}
