import type { Pod } from '../objects/pod.ts';

/**
 * Source of a pod: the manifest directory, a manifest URL, or an API server. Stored in the annotation
 * `kubernetes.io/config.source`.
 */
export type PodSourceName = 'file' | 'http' | 'api';

/**
 * ADD: first seen; UPDATE: same UID, changed specification; REMOVE: removed from its source. Only for pods of an API server:
 * DELETE: to be stopped within its grace period; RECONCILE: only the status changed.
 */
export type PodUpdateOperation = 'ADD' | 'UPDATE' | 'REMOVE' | 'DELETE' | 'RECONCILE';

/**
 * One change of the desired pods. Pods have a UID, defaults and passed validation. If the manifest of a pod without its own UID
 * changes, that is a REMOVE of the old UID and an ADD of a new one, as for the kubelet's static pods.
 */
export type PodUpdate = {
  operation: PodUpdateOperation;
  source: PodSourceName;
  pods: Pod[];
  /** Reasons why pods can never run on this node, by UID. */
  refusals?: ReadonlyMap<string, { reason: string; message: string }>;
};

/**
 * Annotations that sources set on each pod: the source; the pod's UID, by which log collectors find the directory of a static
 * pod; the time when it was first seen; the file or URL; and a hash of the whole manifest, which also changes with a resize.
 */
export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source';
export const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash';
export const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen';
export const CONFIG_FILE_ANNOTATION = 'podwright.dev/config.file';
export const CONFIG_CONTENT_ANNOTATION = 'podwright.dev/config.content';
/** On a mirror pod: the hash of its static pod's manifest. */
export const CONFIG_MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** The time format of `kubernetes.io/config.seen`: with nanoseconds, as upstream. */
export function seenAt(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000000Z');
}

/** Whether a pod comes from a manifest rather than an API server. */
export function isStaticPod({ metadata }: Pod): boolean {
  return metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] !== 'api';
}

/** An existing pod, and the file or URL of its manifest ('' if unknown). */
export type ExistingPod = { uid: string; namespace: string; name: string; file: string };
