/** The condition `DisruptionTarget` of pods that were to be evicted, but were not deleted. Pure. */
import { findCondition, formatTime, type Pod } from '@podwright/kube-api';
import { remainingMs } from '../framework/remaining-time.ts';
import { isEnded } from '../pods/pod-state.ts';

const TARGET = 'DisruptionTarget';
const STALE_AFTER_MS = 120_000;

/**
 * Returns the time until the condition is outdated, in milliseconds; nothing if the pod has no such condition. The kubelet's own condition never
 * is: such a pod may need any time to end.
 */
export function staleInMs(pod: Pod, nowMs: number): number | undefined {
  if (pod.metadata.deletionTimestamp !== undefined || isEnded(pod)) return undefined;
  const condition = findCondition(pod.status?.conditions, TARGET);
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined;
  const since = Date.parse(condition.lastTransitionTime ?? '');
  return Number.isNaN(since) ? 0 : remainingMs(since, STALE_AFTER_MS, nowMs);
}

/** Returns the pod with the condition set to false. */
export function resetCondition(pod: Pod, nowMs: number): Pod {
  const conditions = (pod.status?.conditions ?? []).map((one) => {
    if (one.type !== TARGET) return one;
    const { reason: _reason, message: _message, ...rest } = one;
    return { ...rest, status: 'False' as const, lastTransitionTime: formatTime(nowMs) };
  });
  return { ...pod, status: { ...pod.status!, conditions } };
}
