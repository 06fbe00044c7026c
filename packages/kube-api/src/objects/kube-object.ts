import type { ObjectMeta } from './object-meta.ts';

/**
 * Metadata of an object from an API server. All fields are optional. `namespace` is absent for cluster-scoped objects; `resourceVersion` is
 * a decimal number that can be compared across kinds.
 */
export type KubeMetadata = Partial<ObjectMeta> & { generateName?: string };

/** An API object as JSON, including unknown fields. */
export type KubeObject = { apiVersion?: string; kind?: string; metadata: KubeMetadata };

/** An API resource and its location: `/api/v1/...` for the group '', otherwise `/apis/GROUP/VERSION/...`. */
export type Resource = { group: string; version: string; plural: string; kind: string; namespaced: boolean };
