import type { KubeObject } from './kube-object.ts';

/** A claim of a pod: an existing object, or one that is created from a template. */
export type PodResourceClaim = { name: string; resourceClaimName?: string; resourceClaimTemplateName?: string };

/** A claim of the pod whose devices a container gets: those of `request`, or of all requests. */
export type ContainerClaim = { name: string; request?: string };

/** The object that was created from a claim's template; without a name none is needed. */
export type PodResourceClaimStatus = { name: string; resourceClaimName?: string };

/** resource.k8s.io/v1 ResourceClaim, as far as a kubelet reads it. */
export type ResourceClaim = KubeObject & {
  status?: {
    allocation?: { devices?: { results?: { driver: string }[] } };
    reservedFor?: { apiGroup?: string; resource: string; name: string; uid: string }[];
  };
};
