import type { ObjectMeta } from './object-meta.ts';

/**
 * The metadata of an object from an API server: any field may be absent. `namespace` is absent for cluster-scoped objects;
 * `resourceVersion` is a decimal number that is comparable across kinds.
 */
export type KubeMetadata = Partial<ObjectMeta> & { generateName?: string };

/** An object of the API as JSON, including unknown fields. */
export type KubeObject = { apiVersion?: string; kind?: string; metadata: KubeMetadata };

/** A kind of object and its location in the API: `/api/v1/...` for the group '', otherwise `/apis/GROUP/VERSION/...`. */
export type Resource = { group: string; version: string; plural: string; kind: string; namespaced: boolean };
