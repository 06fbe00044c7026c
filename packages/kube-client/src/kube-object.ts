/** What every object of the API has (meta/v1 ObjectMeta), as far as clients look at it; the rest is kept as it came. */
export type KubeMetadata = {
  name?: string;
  generateName?: string;
  /** Absent for objects of the cluster. */
  namespace?: string;
  uid?: string;
  /** Compared as a decimal number, across kinds. */
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
};

export type OwnerReference = {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
};

/** An object of the API as JSON. Unknown fields are kept. */
export type KubeObject = { apiVersion?: string; kind?: string; metadata: KubeMetadata };

/** A kind of objects, and where the API has them: `/api/v1/...` for the group '', else `/apis/GROUP/VERSION/...`. */
export type Resource = { group: string; version: string; plural: string; kind: string; namespaced: boolean };
