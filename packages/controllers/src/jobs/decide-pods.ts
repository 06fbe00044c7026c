import type { Pod } from '@podwright/kube-api';
import type { Job } from '../objects/job.ts';
import { creationsNow } from '../pods/creation-limit.ts';
import { inDeletionOrder } from '../pods/deletion-order.ts';
import type { NewPod } from '../pods/pod-template.ts';
import { finishedAtMs } from './finish-time.ts';
import { IndexSet } from './index-set.ts';
import { remainingBackoffMs } from './job-backoff.ts';
import { completionsOf, isIndexed, isSuspended, type JobFacts, replacesOnlyFailed } from './job-facts.ts';
import { absoluteFailures, completionIndex, newIndexPod, newPod } from './job-pod.ts';

/** Maximum number of pods deleted in one sync (MaxPodCreateDeletePerSync). */
const MAX_DELETIONS = 500;

export type PodsDecision = {
  create: NewPod[];
  delete: Pod[];
  /** Whether to remove the finalizer of the pods to delete before deleting them, so that the Job does not count them as failed. */
  forgets: boolean;
  /** Time until the Job must be synced again, in milliseconds. */
  againInMs?: number;
};

/** Decides which pods a Job without a verdict creates or deletes (manageJob). It never does both at once. */
export function decidePods(facts: JobFacts): PodsDecision {
  const { job, active } = facts;
  const wanted = isSuspended(job) ? 0 : wantedActive(facts);
  const surplus = podsToRemove(job, active, Math.max(0, active.length - wanted));
  if (surplus.length > 0 || isSuspended(job))
    return { create: [], delete: surplus.slice(0, MAX_DELETIONS), forgets: true };
  const leaving = replacesOnlyFailed(job) ? facts.terminating.length : 0;
  const missing = creationsNow(wanted - leaving - active.length, active);
  return { create: [], delete: [], forgets: false, ...(missing > 0 ? podsToCreate(facts, missing) : {}) };
}

/** Returns the number of pods that should be active. A Job without completions starts no more pods after the first success. */
function wantedActive({ job, succeeded, active }: JobFacts): number {
  const { completions, parallelism = 1 } = job.spec;
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

function podsToCreate(facts: JobFacts, count: number): Pick<PodsDecision, 'create' | 'againInMs'> {
  const { job, delayed, backoff, nowMs } = facts;
  const isPerIndex = job.spec.backoffLimitPerIndex !== undefined;
  const waitMs = isPerIndex ? 0 : remainingBackoffMs(backoff, nowMs);
  if (waitMs > 0) return { create: [], againInMs: waitMs };
  if (!isIndexed(job)) return { create: Array.from({ length: count }, () => newPod(job)) };
  const indexes = pendingIndexes(facts, count);
  const waits = new Map(indexes.map((index) => [index, indexWaitMs(delayed.get(index), nowMs)]));
  const ready = indexes.filter((index) => waits.get(index) === 0);
  const later = [...waits.values()].filter((ms) => ms > 0);
  return {
    create: ready.map((index) => newIndexPod(job, index, delayed.get(index))),
    ...(later.length === 0 ? {} : { againInMs: Math.min(...later) }),
  };
}

/** Returns the time until the backoff of a completion index allows a new pod, in milliseconds. `failed` is the index's last failed pod. */
function indexWaitMs(failed: Pod | undefined, nowMs: number): number {
  if (failed === undefined) return 0;
  return remainingBackoffMs({ failures: absoluteFailures(failed) + 1, lastFailureMs: finishedAtMs(failed) }, nowMs);
}

/** Returns the first `count` completion indexes that have neither finished nor have a pod. */
function pendingIndexes({ job, ...facts }: JobFacts, count: number): number[] {
  const occupying = replacesOnlyFailed(job) ? [...facts.active, ...facts.terminating] : facts.active;
  const occupied = IndexSet.of(occupying.map(completionIndex).filter((index) => index !== undefined));
  const { succeededIndexes, failedIndexes = IndexSet.empty } = facts;
  return succeededIndexes.union(failedIndexes).union(occupied).firstMissing(count, completionsOf(job));
}

/**
 * Chooses at least `count` pods to delete. Pods without a valid index, and all but one pod of each index, are always deleted
 * (activePodsForRemoval).
 */
function podsToRemove(job: Job, active: readonly Pod[], count: number): Pod[] {
  if (!isIndexed(job)) return inDeletionOrder(active).slice(0, count);
  const byIndex = Map.groupBy(active, completionIndex);
  const removed: Pod[] = [];
  const left: Pod[] = [];
  for (const [index, pods] of byIndex) {
    const isValid = index !== undefined && index < completionsOf(job);
    const ordered = inDeletionOrder(pods);
    removed.push(...(isValid ? ordered.slice(0, -1) : ordered));
    if (isValid) left.push(ordered.at(-1)!);
  }
  return [...removed, ...inDeletionOrder(left).slice(0, Math.max(0, count - removed.length))];
}
