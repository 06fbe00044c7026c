/** What others have written of claims into the status of a pod. */
import type { Pod } from './pod.ts';
import type { PodResourceClaimStatus } from './resource-claim.ts';

/** The claim that a scheduler has made for extended resources of the pod which DRA drivers offer, and whose requests are whose. */
type ExtendedResourceClaimStatus = {
  resourceClaimName: string;
  requestMappings: { containerName: string; resourceName: string; requestName: string }[];
};

/** What others write of claims into the status of a pod. */
type ForeignStatus = {
  resourceClaimStatuses?: PodResourceClaimStatus[];
  extendedResourceClaimStatus?: ExtendedResourceClaimStatus;
};

export const claimStatusesOf = (pod: Pod): ForeignStatus => (pod.status ?? {}) as ForeignStatus;

/** Whether a claim stands for the container's request of the resource: no device plugin is to be asked for it. */
export function isClaimed(pod: Pod, container: string, resource: string): boolean {
  const mappings = claimStatusesOf(pod).extendedResourceClaimStatus?.requestMappings ?? [];
  return mappings.some((one) => one.containerName === container && one.resourceName === resource);
}
