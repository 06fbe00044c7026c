import type { KubeObject } from './kube-object.ts';

/** A claim of a pod: an existing object, or one that is created from a template. */
export type PodResourceClaim = { name: string; resourceClaimName?: string; resourceClaimTemplateName?: string };

/** Gives a container the devices of one of the pod's claims: the devices of `request`, or of all requests. */
export type ContainerClaim = { name: string; request?: string };

/** The object created from a claim's template. Without `resourceClaimName`, no object is needed. */
export type PodResourceClaimStatus = { name: string; resourceClaimName?: string };

/** resource.k8s.io/v1 ResourceClaim with the fields that a kubelet reads. */
export type ResourceClaim = KubeObject & {
  status?: {
    allocation?: { devices?: { results?: { driver: string }[] } };
    reservedFor?: { apiGroup?: string; resource: string; name: string; uid: string }[];
  };
};
