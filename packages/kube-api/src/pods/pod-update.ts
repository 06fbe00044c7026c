import type { Pod } from '../objects/pod.ts';

/**
 * The source of a pod: the manifest directory, a manifest URL, or an API server. Recorded in the annotation `kubernetes.io/config.source`.
 */
export type PodSourceName = 'file' | 'http' | 'api';

/**
 * ADD: a new pod. UPDATE: the spec of a pod with the same UID has changed. REMOVE: a pod has disappeared from its source. Only from API
 * servers: DELETE, which stops a pod within its grace period, and RECONCILE, where only the status has changed.
 */
export type PodUpdateOperation = 'ADD' | 'UPDATE' | 'REMOVE' | 'DELETE' | 'RECONCILE';

/**
 * A change to the set of desired pods. The pods have UIDs and defaults and have been validated. As with the kubelet's static pods, changing
 * the manifest of a pod without an explicit UID results in a REMOVE of the old UID and an ADD of a new one.
 */
export type PodUpdate = {
  operation: PodUpdateOperation;
  source: PodSourceName;
  pods: Pod[];
  /** The reasons why some of these pods can never run on this node, by pod UID. */
  refusals?: ReadonlyMap<string, { reason: string; message: string }>;
};

/**
 * Annotations set on each pod by its source: the source, the UID (used by log collectors to find the log directory of a static pod), when
 * the pod was first seen, its file or URL, and a hash of the whole manifest, which also changes if the pod is resized.
 */
export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source';
export const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash';
export const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen';
export const CONFIG_FILE_ANNOTATION = 'podwright.dev/config.file';
export const CONFIG_CONTENT_ANNOTATION = 'podwright.dev/config.content';
/** On mirror pods: the hash of the static pod's manifest. */
export const CONFIG_MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** Formats a time for `kubernetes.io/config.seen`, with nanoseconds like upstream. */
export function seenAt(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000000Z');
}

/** Whether a pod comes from a manifest rather than an API server. */
export function isStaticPod({ metadata }: Pod): boolean {
  return metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] !== 'api';
}

/** An existing pod with the file or URL of its manifest ('' if unknown). */
export type ExistingPod = { uid: string; namespace: string; name: string; file: string };
