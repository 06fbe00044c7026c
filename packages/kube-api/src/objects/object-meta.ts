/**
 * Metadata common to all objects (meta/v1 ObjectMeta). `namespace` defaults to `default`; `uid` is '' until set by a pod or object source.
 */
export type ObjectMeta = {
  name: string;
  namespace: string;
  uid: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  generation?: number;
  resourceVersion?: string;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
};

export type OwnerReference = {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
};

/** Refers to an object in the same namespace by name. */
export type LocalObjectReference = { name: string };
