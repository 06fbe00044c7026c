import { type EventRecorder, eventSubject, type Pod } from '@podwright/kube-api';

/** An event tells of an end that takes longer than half as much again as the pod's time, and than this (killPodNow). */
const LEAST_KILL_PATIENCE_MS = 10_000;

export type PodEnd = {
  /** Resolves when nothing of the pod runs any more. */
  stopped: Promise<void>;
  gracePeriodSeconds: number;
  /** Ends the waiting. */
  signal: AbortSignal;
  /** Waits; resolves early when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  events: EventRecorder;
};

/**
 * Waits for the end of a pod that was begun, for an eviction or for the host's shutdown. False, and an event, for one that takes too
 * long (upstream's killPodNow); true also when the signal aborts.
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
