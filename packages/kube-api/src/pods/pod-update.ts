import type { Pod } from '../objects/pod.ts';

/**
 * The source of a pod: the manifest directory, a manifest URL, or an API server. Stored in the annotation `kubernetes.io/config.source`.
 */
export type PodSourceName = 'file' | 'http' | 'api';

/**
 * ADD is a new pod, UPDATE is a changed pod spec with the same UID, and REMOVE is a pod that has disappeared from its source. Two
 * operations come only from an API server: DELETE, which stops a pod within its grace period, and RECONCILE, which means that only the
 * status changed.
 */
export type PodUpdateOperation = 'ADD' | 'UPDATE' | 'REMOVE' | 'DELETE' | 'RECONCILE';

/**
 * A change to the set of desired pods. The pods have UIDs and defaults and have passed validation. As with the kubelet's static pods, if
 * the manifest of a pod without a UID of its own changes, the result is a REMOVE of the old UID and an ADD of a new one.
 */
export type PodUpdate = {
  operation: PodUpdateOperation;
  source: PodSourceName;
  pods: Pod[];
  /** The reasons why certain pods can never run on this node, by UID. */
  refusals?: ReadonlyMap<string, { reason: string; message: string }>;
};

/**
 * Annotations that pod sources set on each pod: its source; its UID, which log collectors use to find the log directory of a static pod;
 * when it was first seen; its file or URL; and a hash of the whole manifest, which also changes if the pod is resized.
 */
export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source';
export const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash';
export const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen';
export const CONFIG_FILE_ANNOTATION = 'podwright.dev/config.file';
export const CONFIG_CONTENT_ANNOTATION = 'podwright.dev/config.content';
/** On a mirror pod: the hash of the static pod's manifest. */
export const CONFIG_MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** Formats a time for `kubernetes.io/config.seen`, with nanoseconds as in upstream. */
export function seenAt(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000000Z');
}

/** Whether a pod comes from a manifest rather than an API server. */
export function isStaticPod({ metadata }: Pod): boolean {
  return metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] !== 'api';
}

/** An existing pod, and the file or URL of its manifest ('' if unknown). */
export type ExistingPod = { uid: string; namespace: string; name: string; file: string };
