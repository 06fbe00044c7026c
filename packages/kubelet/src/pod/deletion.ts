import type { Pod } from '@podwright/kube-api';
import { DEFAULT_GRACE_SECONDS, MAX_GRACE_SECONDS } from '../kubecontainer/grace-periods.ts';

/** How much time a pod is given to end; absent for its own. */
type Ending = { gracePeriodSeconds?: number };

/** The first end may give more time than the pod itself does, each one after it only less. */
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

/** The deletion fields of a pod's metadata, which no source sets. */
export function deletionMarks({ metadata }: Pod): Partial<Pod['metadata']> {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  return deletionTimestamp === undefined ? {} : { deletionTimestamp, deletionGracePeriodSeconds };
}

/** The pod with the time of its deletion, so that everybody sees that it is going. */
export function marked(pod: Pod, end: Ending): Pod {
  const deletionGracePeriodSeconds = end.gracePeriodSeconds ?? ownGrace(pod);
  const seconds = Math.min(deletionGracePeriodSeconds, MAX_GRACE_SECONDS);
  const deletionTimestamp = pod.metadata.deletionTimestamp ?? new Date(Date.now() + seconds * 1000).toISOString();
  return { ...pod, metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds } };
}
