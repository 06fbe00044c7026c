import type { Pod } from '../api/types.ts';

/** Where a pod comes from: the manifest directory or a manifest URL. Kept in the annotation `kubernetes.io/config.source`. */
export type PodSourceName = 'file' | 'http';

/**
 * ADD: pods seen for the first time; UPDATE: pods whose wishes changed; REMOVE: pods that left their source;
 * RECONCILE: pods that stayed as they are, sent with the first full list of a source so that the sync loop can rely on it.
 */
export type PodUpdateOperation = 'ADD' | 'UPDATE' | 'REMOVE' | 'RECONCILE';

/** One change of the desired pods. Pods have a UID, defaults applied, and passed validation. */
export type PodUpdate = { operation: PodUpdateOperation; source: PodSourceName; pods: Pod[] };

/** Annotations that the sources set on each pod. */
export const configSourceAnnotation = 'kubernetes.io/config.source';
export const configHashAnnotation = 'kubernetes.io/config.hash';
export const configFileAnnotation = 'podwright.dev/config.file';
