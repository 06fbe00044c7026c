import type { Pod } from '../api/types.ts';

/** Where a pod comes from: the manifest directory or a manifest URL. Kept in the annotation `kubernetes.io/config.source`. */
export type PodSourceName = 'file' | 'http';

/** ADD: seen for the first time; UPDATE: same UID, changed specification; REMOVE: gone from its source. */
export type PodUpdateOperation = 'ADD' | 'UPDATE' | 'REMOVE';

/**
 * One change of the desired pods. Pods have a UID, defaults applied, and passed validation. A pod without a UID of its own
 * whose manifest changes is a REMOVE of the old UID and an ADD of a new one, as with the kubelet's static pods.
 */
export type PodUpdate = { operation: PodUpdateOperation; source: PodSourceName; pods: Pod[] };

/**
 * Annotations that the sources set on each pod: the source, a hash of what the manifest says, when it was first seen, and the file
 * or URL.
 */
export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source';
export const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash';
export const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen';
export const CONFIG_FILE_ANNOTATION = 'podwright.dev/config.file';

/** Whether the pod is of a manifest, not of an API server; the annotation is the kubelet's own. */
export function isOfManifest({ metadata }: Pod): boolean {
  return metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] !== 'api';
}

/** A pod that exists already, and the file or URL that it was made from ('' if that is not known). */
export type ExistingPod = { uid: string; namespace: string; name: string; file: string };
