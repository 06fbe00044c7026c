/** Pods that have the Job finalizer but will not be counted by any Job, so they would never be removed (syncOrphanPod). */
import type { Pod } from '@podwright/kube-api';
import { isApiStatus, PODS } from '@podwright/kube-client';
import type { ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import type { ObjectPlace } from '../framework/object-place.ts';
import { isFinished, isManagedByOther, JOBS, type Job } from '../objects/job.ts';
import { controllerOf, isOfKind } from '../pods/controller-reference.ts';
import { hasTrackingFinalizer, TRACKING_FINALIZER } from './job-pod.ts';

type WriteParts = Pick<ControllerParts, 'client' | 'objects' | 'signal'>;

/**
 * Whether the pod has the finalizer although it has no controller, its Job no longer exists, or its Job has finished and is handled by this
 * controller.
 */
export function isOrphan(pod: Pod, jobs: ObjectCache<Job>): boolean {
  if (!hasTrackingFinalizer(pod)) return false;
  const controller = controllerOf(pod);
  if (controller === undefined) return true;
  if (!isOfKind(controller, JOBS)) return false;
  const job = jobs.get({ namespace: pod.metadata.namespace, name: controller.name });
  return job?.metadata.uid !== controller.uid || (isFinished(job) && !isManagedByOther(job));
}

/** Removes the finalizer from a pod that is still an orphan. */
export async function releaseOrphan(parts: WriteParts, place: ObjectPlace): Promise<void> {
  const pod = parts.objects.of<Pod>(PODS).get(place);
  if (pod !== undefined && isOrphan(pod, parts.objects.of<Job>(JOBS))) await removeFinalizer(parts, pod);
}

/** Removes the Job finalizer from a pod. No-op if the pod no longer exists. */
export async function removeFinalizer({ client, objects, signal }: WriteParts, pod: Pod): Promise<void> {
  if (!hasTrackingFinalizer(pod)) return;
  const { namespace, name, uid } = pod.metadata;
  const body = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [TRACKING_FINALIZER] } };
  try {
    const patched = await client.patch<Pod>(PODS, { namespace, name }, { type: 'strategic', body }, { signal });
    objects.of<Pod>(PODS).written(patched);
  } catch (error) {
    if (!isApiStatus(error, 404)) throw error;
  }
}
