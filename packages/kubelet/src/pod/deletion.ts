import type { Pod } from '@podwright/kube-api';
import { DEFAULT_GRACE_SECONDS, MAX_GRACE_SECONDS } from '../kubecontainer/grace-periods.ts';

/** A request to stop a pod. `gracePeriodSeconds` defaults to the pod's own `terminationGracePeriodSeconds`. */
type Ending = { gracePeriodSeconds?: number };

/**
 * Whether a request changes the pod's grace period. The first request may exceed the pod's own grace period; later ones can only shorten
 * it.
 */
export function isShorter(
  { gracePeriodSeconds }: Ending,
  { end, pod }: { end: Ending | undefined; pod: Pod },
): boolean {
  if (gracePeriodSeconds === undefined) return false;
  return end === undefined || gracePeriodSeconds < (end.gracePeriodSeconds ?? ownGrace(pod));
}

function ownGrace({ spec }: Pod): number {
  return spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
}

/** Returns the deletion fields in a pod's metadata, which pods from files and HTTP do not have. */
export function deletionMarks({ metadata }: Pod): Partial<Pod['metadata']> {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  return deletionTimestamp === undefined ? {} : { deletionTimestamp, deletionGracePeriodSeconds };
}

/** Returns the pod with `deletionTimestamp` and `deletionGracePeriodSeconds`, so that clients see it terminating. */
export function marked(pod: Pod, end: Ending): Pod {
  const deletionGracePeriodSeconds = end.gracePeriodSeconds ?? ownGrace(pod);
  const seconds = Math.min(deletionGracePeriodSeconds, MAX_GRACE_SECONDS);
  const deletionTimestamp = pod.metadata.deletionTimestamp ?? new Date(Date.now() + seconds * 1000).toISOString();
  return { ...pod, metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds } };
}
