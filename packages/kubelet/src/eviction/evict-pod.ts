/** Evicts a pod: records the reason, marks the pod as failed, and waits for it to stop. */
import { errorMessage, type Logger } from '@podwright/base';
import { type EventRecorder, eventSubject, namespacedName, type Pod } from '@podwright/kube-api';
import { isHard, type Observations, resourceOf, type Threshold } from '@podwright/kubelet-configuration';
import type { PodVerdict } from '../kubecontainer/sync-result.ts';
import { evictionMessage } from './eviction-message.ts';
import type { Candidate } from './rank-pods.ts';
import type { PodExcess } from './storage-limits.ts';

/** Grace period of hard evictions, as in upstream. Long enough for preStop hooks to start. */
const EVICTION_GRACE_SECONDS = 1;

/** How to evict a pod: the reason and message for its failure, and its grace period. */
export type PodEviction = { verdict: PodVerdict; gracePeriodSeconds: number };

/** `signal`: the eviction signal of the threshold or local storage limit, for metrics and events. */
type Evicted = PodEviction & { signal: string; annotations?: Record<string, string> };

export type EvictionDependencies = {
  /** Maximum grace period of soft evictions, in seconds (`evictionMaxPodGracePeriod`). */
  maxPodGraceSeconds: number;
  isExempt: (pod: Pod) => boolean;
  /**
   * Marks the pod as failed and kills it. Resolves once all of its containers have stopped or the signal aborts; rejects if that takes too
   * long.
   */
  evict: (pod: Pod, eviction: PodEviction, signal: AbortSignal) => Promise<void>;
  /** Whether all resources of the pod have been reclaimed. */
  isCleanedUp: (pod: Pod) => boolean;
  events: EventRecorder;
  metrics?: { evicted(signal: string): void };
  logger: Logger;
};

type Input = EvictionDependencies & { stopping: AbortSignal };

/** Evicts a pod that exceeds its own storage limits. Returns false if the pod is critical or already gone. Never rejects. */
export async function evictOverLimit(input: Input, { pod, excess: { signal, message } }: PodExcess): Promise<boolean> {
  const verdict = { reason: 'Evicted', message };
  return await evictPod(input, pod, { signal, verdict, gracePeriodSeconds: EVICTION_GRACE_SECONDS });
}

/**
 * Evicts a pod because of a node-level threshold. `pressing`: all thresholds that have been met for longer than their grace period. Returns
 * false if the pod is critical or already gone. Never rejects.
 */
export async function evictFor(
  input: Input,
  candidate: Candidate,
  known: { threshold: Threshold; pressing: readonly Threshold[]; observations: Observations },
): Promise<boolean> {
  const { threshold } = known;
  const { signal } = threshold;
  const { pod } = candidate;
  const { message, annotations } = evictionMessage(candidate, resourceOf(signal), known);
  const verdict = { reason: 'Evicted', message, disruption: message };
  const gracePeriodSeconds = graceSeconds(pod, threshold, input.maxPodGraceSeconds);
  return await evictPod(input, pod, { signal, verdict, annotations, gracePeriodSeconds });
}

function graceSeconds({ spec }: Pod, threshold: Threshold, maxPodGraceSeconds: number): number {
  if (isHard(threshold)) return EVICTION_GRACE_SECONDS;
  const wanted = Math.min(maxPodGraceSeconds, spec.terminationGracePeriodSeconds ?? maxPodGraceSeconds);
  return Math.max(EVICTION_GRACE_SECONDS, wanted);
}

async function evictPod(input: Input, pod: Pod, { signal, annotations, ...eviction }: Evicted): Promise<boolean> {
  const { isExempt, isCleanedUp, evict, events, metrics, logger, stopping } = input;
  if (isCleanedUp(pod)) return false;
  const fields = { pod: namespacedName(pod), signal };
  if (isExempt(pod)) {
    logger.warn(fields, 'a critical pod cannot be evicted');
    return false;
  }
  const { reason, message } = eviction.verdict;
  events.event({ ...eventSubject(pod), annotations }, 'Warning', reason, message);
  await evict(pod, eviction, stopping).catch((error: unknown) =>
    logger.error({ ...fields, error: errorMessage(error) }, 'an evicted pod did not stop'),
  );
  metrics?.evicted(signal);
  return true;
}
