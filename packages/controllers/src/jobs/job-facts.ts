/** Derives the state of a Job from its pods, before the sync changes anything. */
import type { Pod } from '@podwright/kube-api';
import type { Job } from '../objects/job.ts';
import { isActive, isTerminating } from '../pods/pod-state.ts';
import { finishedAtMs } from './finish-time.ts';
import { IndexSet } from './index-set.ts';
import { backoffAfter, type JobBackoff } from './job-backoff.ts';
import { absoluteFailures, completionIndex, hasTrackingFinalizer, indexFailures } from './job-pod.ts';
import { matchPodFailurePolicy } from './pod-failure-policy.ts';

export type JobState = {
  job: Job;
  /** All pods owned by the Job, in any phase. */
  pods: readonly Pod[];
  /** The Job's pod failures seen by earlier syncs. */
  backoff?: JobBackoff;
  nowMs: number;
};

export type JobFacts = JobState & {
  active: Pod[];
  terminating: Pod[];
  /** Numbers of succeeded and failed pods, including pods that the status does not count yet. */
  succeeded: number;
  failed: number;
  /** Completion indexes counted in the Job's status. Like `succeededIndexes`, empty unless the Job is Indexed. */
  countedIndexes: IndexSet;
  succeededIndexes: IndexSet;
  /** Failed completion indexes; absent if there is no per-index backoff limit. */
  failedIndexes?: IndexSet;
  /** Failed pods by index, retained until their replacements have taken over their failure counts. */
  delayed: ReadonlyMap<number, Pod>;
  backoff: JobBackoff;
};

export function jobFacts(state: JobState): JobFacts {
  const { job, pods, backoff } = state;
  const { succeeded = 0, failed = 0, uncountedTerminatedPods: uncounted = {} } = job.status ?? {};
  const uncounteds = { succeeded: new Set(uncounted.succeeded), failed: new Set(uncounted.failed) };
  const countable = pods.filter((pod) => hasTrackingFinalizer(pod) && isCountable(job, pod));
  const newlySucceeded = countable.filter(
    ({ status, metadata: { uid } }) => status?.phase === 'Succeeded' && !uncounteds.succeeded.has(uid),
  );
  const newlyFailed = countable.filter((pod) => isFailed(job, pod) && !uncounteds.failed.has(pod.metadata.uid));
  const counted = newlyFailed.filter((pod) => matchPodFailurePolicy(job.spec.podFailurePolicy, pod).counts);
  const active = pods.filter(isActive);
  const indexes = indexFacts(job, pods);
  return {
    ...state,
    ...indexes,
    active,
    terminating: pods.filter(isTerminating),
    succeeded: isIndexed(job)
      ? indexes.succeededIndexes.size
      : succeeded + newlySucceeded.length + uncounteds.succeeded.size,
    failed: failed + counted.length + uncounteds.failed.size,
    delayed: delayedPods({ job, countable, active, ...indexes }),
    backoff: backoffAfter(backoff, { succeeded: newlySucceeded, failed: newlyFailed }),
  };
}

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === 'Indexed';
}

export function isSuspended({ spec }: Job): boolean {
  return spec.suspend === true;
}

/** Whether the Job replaces pods being deleted only once they have failed. */
export function replacesOnlyFailed({ spec }: Job): boolean {
  return spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined;
}

/**
 * Whether the pod counts as failed. Unless pods are replaced only once they have failed, this includes pods deleted before they terminate,
 * because they might never reach the phase Failed.
 */
export function isFailed(job: Job, { metadata, status }: Pod): boolean {
  if (status?.phase === 'Failed') return true;
  if (replacesOnlyFailed(job)) return false;
  return metadata.deletionTimestamp !== undefined && status?.phase !== 'Succeeded';
}

/**
 * Whether the pod affects the Job's counts once it has terminated: any pod of a non-indexed Job, or a pod whose index is below the
 * completions.
 */
export function isCountable(job: Job, pod: Pod): boolean {
  if (!isIndexed(job)) return true;
  const index = completionIndex(pod);
  return index !== undefined && index < completionsOf(job);
}

export function completionsOf({ spec }: Job): number {
  return spec.completions ?? 0;
}

type IndexFacts = Pick<JobFacts, 'countedIndexes' | 'succeededIndexes' | 'failedIndexes'>;

function indexFacts(job: Job, pods: readonly Pod[]): IndexFacts {
  if (!isIndexed(job)) return { countedIndexes: IndexSet.empty, succeededIndexes: IndexSet.empty };
  const completions = completionsOf(job);
  const indexesOf = (isWanted: (pod: Pod) => boolean) =>
    IndexSet.of(
      pods.flatMap((pod) => {
        const isNew = hasTrackingFinalizer(pod) && isCountable(job, pod) && isWanted(pod);
        return isNew ? [completionIndex(pod)!] : [];
      }),
    );
  const countedIndexes = IndexSet.parse(job.status?.completedIndexes, completions);
  const succeededIndexes = countedIndexes.union(indexesOf(({ status }) => status?.phase === 'Succeeded'));
  if (job.spec.backoffLimitPerIndex === undefined) return { countedIndexes, succeededIndexes };
  const known = IndexSet.parse(job.status?.failedIndexes, completions);
  return { countedIndexes, succeededIndexes, failedIndexes: known.union(indexesOf((pod) => failsIndex(job, pod))) };
}

/** Whether a pod's failure makes its completion index fail, because of a policy rule or because the index has no retries left. */
function failsIndex(job: Job, pod: Pod): boolean {
  if (!isFailed(job, pod)) return false;
  const { action, counts } = matchPodFailurePolicy(job.spec.podFailurePolicy, pod);
  return action === 'FailIndex' || (counts && indexFailures(pod) >= (job.spec.backoffLimitPerIndex ?? 0));
}

/**
 * Returns the last failed pod of each completion index that has neither finished nor has an active pod
 * (getPodsWithDelayedDeletionPerIndex).
 */
function delayedPods({
  job,
  countable,
  active,
  succeededIndexes,
  failedIndexes,
}: IndexFacts & { job: Job; countable: readonly Pod[]; active: readonly Pod[] }): Map<number, Pod> {
  const delayed = new Map<number, Pod>();
  if (failedIndexes === undefined) return delayed;
  const activeIndexes = new Set(active.map(completionIndex));
  for (const pod of countable) {
    const index = completionIndex(pod)!;
    const isDone = succeededIndexes.has(index) || failedIndexes.has(index) || activeIndexes.has(index);
    if (isDone || !isFailed(job, pod)) continue;
    const known = delayed.get(index);
    const isLater =
      known === undefined ||
      (absoluteFailures(known) <= absoluteFailures(pod) && finishedAtMs(known) <= finishedAtMs(pod));
    if (isLater) delayed.set(index, pod);
  }
  return delayed;
}
