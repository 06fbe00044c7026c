import { type EventRecorder, eventSubject, type Pod } from '@podwright/kube-api';

/** Minimum time to wait for a pod to stop. The wait is normally 1.5 times the grace period (upstream's killPodNow). */
const LEAST_KILL_PATIENCE_MS = 10_000;

export type PodEnd = {
  /** Resolves once none of the pod's processes are running. */
  stopped: Promise<void>;
  gracePeriodSeconds: number;
  /** Aborts the wait for the pod to stop. */
  signal: AbortSignal;
  /** Sleeps, or resolves early if the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  events: EventRecorder;
};

/**
 * Waits for a pod that is being killed because of an eviction or a node shutdown (upstream's killPodNow). Returns true if the pod stopped
 * or the signal aborted. If the pod takes too long, emits an event and returns false.
 */
export async function stopsInTime(pod: Pod, { stopped, gracePeriodSeconds, signal, sleep, events }: PodEnd) {
  const over = new AbortController();
  const patienceMs = Math.max(LEAST_KILL_PATIENCE_MS, gracePeriodSeconds * 1500);
  const ended = stopped.finally(() => over.abort());
  await Promise.race([ended, sleep(patienceMs, AbortSignal.any([signal, over.signal]))]);
  if (over.signal.aborted || signal.aborted) return true;
  const message = 'Container runtime did not kill the pod within specified grace period.';
  events.event(eventSubject(pod), 'Warning', 'ExceededGracePeriod', message);
  return false;
}
