import { findCondition, type Pod } from '@podwright/kube-api';
import { remainingMs } from '../framework/remaining-time.ts';

/** Whether the pod counts as a replica: it is neither in a terminal phase nor being deleted (controller.IsPodActive). */
export function isActive(pod: Pod): boolean {
  return !isEnded(pod) && pod.metadata.deletionTimestamp === undefined;
}

export function isEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Whether the pod has a deletion timestamp and is not in a terminal phase (controller.IsPodTerminating). */
export function isTerminating(pod: Pod): boolean {
  return !isEnded(pod) && pod.metadata.deletionTimestamp !== undefined;
}

export function isReady(pod: Pod): boolean {
  return readyCondition(pod)?.status === 'True';
}

/** Whether the pod has been ready for `minReadySeconds` (podutil.IsPodAvailable). */
export function isAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  return isReady(pod) && availableInMs(pod, minReadySeconds, nowMs) === 0;
}

/**
 * Returns the time until a ready pod is available, in milliseconds; 0 if it already is. If it is unknown when the pod became ready, returns
 * all of `minReadySeconds`.
 */
export function availableInMs(pod: Pod, minReadySeconds: number, nowMs: number): number {
  if (minReadySeconds === 0) return 0;
  const since = Date.parse(readyCondition(pod)?.lastTransitionTime ?? '');
  return Number.isNaN(since) ? minReadySeconds * 1000 : remainingMs(since, minReadySeconds * 1000, nowMs);
}

export function readyCondition({ status }: Pod) {
  return findCondition(status?.conditions, 'Ready');
}
