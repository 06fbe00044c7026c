import type { ObjectMeta } from './object-meta.ts';

/**
 * The metadata of an object as an API server sends it: any field may be absent. `namespace` is absent for objects of the cluster,
 * `resourceVersion` is compared as a decimal number across kinds.
 */
export type KubeMetadata = Partial<ObjectMeta> & { generateName?: string };

/** An object of the API as JSON. Unknown fields are kept. */
export type KubeObject = { apiVersion?: string; kind?: string; metadata: KubeMetadata };

/** A kind of objects and its location in the API: `/api/v1/...` for the group '', else `/apis/GROUP/VERSION/...`. */
export type Resource = { group: string; version: string; plural: string; kind: string; namespaced: boolean };
