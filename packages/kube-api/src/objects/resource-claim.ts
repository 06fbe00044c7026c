import type { KubeObject } from './kube-object.ts';

/** A claim that a pod has: by its name, or made for the pod from a template. */
export type PodResourceClaim = { name: string; resourceClaimName?: string; resourceClaimTemplateName?: string };

/** Of which claims of the pod a container has the devices: of all requests without `request`. */
export type ContainerClaim = { name: string; request?: string };

/** Which object was made for a claim of a pod from its template; none without a name. */
export type PodResourceClaimStatus = { name: string; resourceClaimName?: string };

/** resource.k8s.io/v1 ResourceClaim, as far as a kubelet looks at it. */
export type ResourceClaim = KubeObject & {
  status?: {
    allocation?: { devices?: { results?: { driver: string }[] } };
    reservedFor?: { apiGroup?: string; resource: string; name: string; uid: string }[];
  };
};
