/** The `DisruptionTarget` condition of pods that were to be evicted but were not deleted. Pure. */
import { findCondition, formatTime, type Pod } from '@podwright/kube-api';
import { remainingMs } from '../framework/remaining-time.ts';
import { isEnded } from '../pods/pod-state.ts';

const TARGET = 'DisruptionTarget';
const STALE_AFTER_MS = 120_000;

/**
 * Returns the time until the pod's `DisruptionTarget` condition is stale, in milliseconds, or undefined if the pod has no such condition. A
 * condition set by the kubelet is never stale, because terminating the pod can take any amount of time.
 */
export function staleInMs(pod: Pod, nowMs: number): number | undefined {
  if (pod.metadata.deletionTimestamp !== undefined || isEnded(pod)) return undefined;
  const condition = findCondition(pod.status?.conditions, TARGET);
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined;
  const since = Date.parse(condition.lastTransitionTime ?? '');
  return Number.isNaN(since) ? 0 : remainingMs(since, STALE_AFTER_MS, nowMs);
}

/** Returns the pod with its `DisruptionTarget` condition set to false. */
export function resetCondition(pod: Pod, nowMs: number): Pod {
  const conditions = (pod.status?.conditions ?? []).map((one) => {
    if (one.type !== TARGET) return one;
    const { reason: _reason, message: _message, ...rest } = one;
    return { ...rest, status: 'False' as const, lastTransitionTime: formatTime(nowMs) };
  });
  return { ...pod, status: { ...pod.status!, conditions } };
}
