/**
 * Metadata that every object has (meta/v1 ObjectMeta). `namespace` defaults to `default`; `uid` is '' until a pod or object source sets it.
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

/** Refers by name to an object in the same namespace. */
export type LocalObjectReference = { name: string };
