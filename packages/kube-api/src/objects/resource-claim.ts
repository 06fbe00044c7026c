import type { KubeObject } from './kube-object.ts';

/** A resource claim of a pod: either an existing ResourceClaim, or one created from a template. */
export type PodResourceClaim = { name: string; resourceClaimName?: string; resourceClaimTemplateName?: string };

/** Assigns devices from one of the pod's claims to a container: those of `request`, or those of all requests if it is unset. */
export type ContainerClaim = { name: string; request?: string };

/** The ResourceClaim created from a claim's template. If `resourceClaimName` is absent, none was needed. */
export type PodResourceClaimStatus = { name: string; resourceClaimName?: string };

/** resource.k8s.io/v1 ResourceClaim, with the fields read by a kubelet. */
export type ResourceClaim = KubeObject & {
  status?: {
    allocation?: { devices?: { results?: { driver: string }[] } };
    reservedFor?: { apiGroup?: string; resource: string; name: string; uid: string }[];
  };
};
