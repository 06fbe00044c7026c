import type { Pod } from '../objects/pod.ts';

/**
 * Source of a pod: the manifest directory, a manifest URL, or an API server. Stored in the annotation
 * `kubernetes.io/config.source`.
 */
export type PodSourceName = 'file' | 'http' | 'api';

/**
 * ADD is a new pod, UPDATE a changed specification of the same UID, REMOVE a pod that has gone from its source. Only an API
 * server causes DELETE, which stops a pod within its grace period, and RECONCILE, for a change of only the status.
 */
export type PodUpdateOperation = 'ADD' | 'UPDATE' | 'REMOVE' | 'DELETE' | 'RECONCILE';

/**
 * One change of the desired pods. The pods have UIDs and defaults, and have passed validation. As with the kubelet's static
 * pods, a changed manifest of a pod without its own UID gives a REMOVE of the old UID and an ADD of a new one.
 */
export type PodUpdate = {
  operation: PodUpdateOperation;
  source: PodSourceName;
  pods: Pod[];
  /** Reasons why pods can never run on this node, by UID. */
  refusals?: ReadonlyMap<string, { reason: string; message: string }>;
};

/**
 * Annotations that sources set on each pod: its source; its UID, with which log collectors find the log directory of a static
 * pod; when it was first seen; its file or URL; and a hash of the whole manifest, which a resize changes, too.
 */
export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source';
export const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash';
export const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen';
export const CONFIG_FILE_ANNOTATION = 'podwright.dev/config.file';
export const CONFIG_CONTENT_ANNOTATION = 'podwright.dev/config.content';
/** On a mirror pod: the hash of its static pod's manifest. */
export const CONFIG_MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** Formats a time for `kubernetes.io/config.seen`: with nanoseconds, as in upstream. */
export function seenAt(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000000Z');
}

/** Whether a pod comes from a manifest rather than an API server. */
export function isStaticPod({ metadata }: Pod): boolean {
  return metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] !== 'api';
}

/** An existing pod, and the file or URL of its manifest ('' if unknown). */
export type ExistingPod = { uid: string; namespace: string; name: string; file: string };
