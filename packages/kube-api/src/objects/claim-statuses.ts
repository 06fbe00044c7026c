/** The parts of a pod's status that concern ResourceClaims, which are written by the scheduler and by controllers. */
import type { Pod } from './pod.ts';
import type { PodResourceClaimStatus } from './resource-claim.ts';

/** The claim created by the scheduler for extended resources provided by DRA drivers, and its requests by container and resource. */
type ExtendedResourceClaimStatus = {
  resourceClaimName: string;
  requestMappings: { containerName: string; resourceName: string; requestName: string }[];
};

/** Fields of a pod's status that the kubelet reads but never writes. */
type ForeignStatus = {
  resourceClaimStatuses?: PodResourceClaimStatus[];
  extendedResourceClaimStatus?: ExtendedResourceClaimStatus;
};

export const claimStatusesOf = (pod: Pod): ForeignStatus => (pod.status ?? {}) as ForeignStatus;

/** Whether this extended resource is provided by a ResourceClaim and must therefore not be allocated by device plugins. */
export function isClaimed(pod: Pod, container: string, resource: string): boolean {
  const mappings = claimStatusesOf(pod).extendedResourceClaimStatus?.requestMappings ?? [];
  return mappings.some((one) => one.containerName === container && one.resourceName === resource);
}
