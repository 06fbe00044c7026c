import type { Pod } from '../objects/pod.ts';

/**
 * Where a pod comes from: the manifest directory, a manifest URL, or an API server. Kept in the annotation
 * `kubernetes.io/config.source`.
 */
export type PodSourceName = 'file' | 'http' | 'api';

/**
 * ADD: seen for the first time; UPDATE: same UID, changed specification; REMOVE: gone from its source. Of pods of an API server
 * besides DELETE: to be ended within its grace period; RECONCILE: only the status changed there.
 */
export type PodUpdateOperation = 'ADD' | 'UPDATE' | 'REMOVE' | 'DELETE' | 'RECONCILE';

/**
 * One change of the desired pods. Pods have a UID, defaults applied, and passed validation. A pod without a UID of its own
 * whose manifest changes is a REMOVE of the old UID and an ADD of a new one, as with the kubelet's static pods.
 */
export type PodUpdate = {
  operation: PodUpdateOperation;
  source: PodSourceName;
  pods: Pod[];
  /** Why pods among them cannot run here whatever else is here, by their UIDs. */
  refusals?: ReadonlyMap<string, { reason: string; message: string }>;
};

/**
 * Annotations that the sources set on each pod: the source, its UID, by which collectors of logs find the directory of a static
 * pod, when it was first seen, the file or URL, and a hash of all that the manifest says, which changes with a resize, too.
 */
export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source';
export const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash';
export const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen';
export const CONFIG_FILE_ANNOTATION = 'podwright.dev/config.file';
export const CONFIG_CONTENT_ANNOTATION = 'podwright.dev/config.content';
/** On the pod of an API server that shows a static one: the hash of what the manifest of that says. */
export const CONFIG_MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** A time for `kubernetes.io/config.seen`: nanoseconds, as upstream. */
export function seenAt(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000000Z');
}

/** Whether a pod is one of a manifest: it runs without an API server. */
export function isStaticPod({ metadata }: Pod): boolean {
  return metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] !== 'api';
}

/** A pod that exists already, and the file or URL that it was made from ('' if that is not known). */
export type ExistingPod = { uid: string; namespace: string; name: string; file: string };
