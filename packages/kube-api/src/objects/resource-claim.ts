import type { KubeObject } from './kube-object.ts';

/** A resource claim of a pod: either an existing ResourceClaim, or one that is created from a template. */
export type PodResourceClaim = { name: string; resourceClaimName?: string; resourceClaimTemplateName?: string };

/** Gives a container devices from one of the pod's claims: those of `request` or, if it is unset, those of all requests. */
export type ContainerClaim = { name: string; request?: string };

/** The ResourceClaim that was created from a claim's template. If `resourceClaimName` is absent, none was needed. */
export type PodResourceClaimStatus = { name: string; resourceClaimName?: string };

/** resource.k8s.io/v1 ResourceClaim, with the fields that a kubelet reads. */
export type ResourceClaim = KubeObject & {
  status?: {
    allocation?: { devices?: { results?: { driver: string }[] } };
    reservedFor?: { apiGroup?: string; resource: string; name: string; uid: string }[];
  };
};
