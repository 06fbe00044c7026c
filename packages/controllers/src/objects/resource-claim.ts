import type { ObjectMeta, Resource, ResourceClaim } from '@podwright/kube-api';
import { RESOURCE_CLAIMS } from '@podwright/kube-client';

export const RESOURCE_CLAIM_TEMPLATES: Resource = {
  ...RESOURCE_CLAIMS,
  plural: 'resourceclaimtemplates',
  kind: 'ResourceClaimTemplate',
};

/** A resource.k8s.io/v1 ResourceClaimTemplate as the API server stores it. */
export type ResourceClaimTemplate = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: { metadata?: Pick<ObjectMeta, 'labels' | 'annotations'>; spec: object };
};

/** A resource.k8s.io/v1 ResourceClaim as the API server stores it. */
export type StoredClaim = ResourceClaim & { metadata: ObjectMeta };

export type ClaimConsumer = NonNullable<NonNullable<ResourceClaim['status']>['reservedFor']>[number];
