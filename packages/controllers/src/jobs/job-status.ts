/** Computes the status of a Job in two steps, so that each pod is counted exactly once (trackJobStatusAndRemoveFinalizers). */
import { findCondition, formatTime, isConditionTrue, type Pod } from '@podwright/kube-api';
import type { Job, JobCondition, JobStatus } from '../objects/job.ts';
import { isReady } from '../pods/pod-state.ts';
import { isCountable, isFailed, isIndexed, isSuspended, type JobFacts } from './job-facts.ts';
import { completionIndex, hasTrackingFinalizer } from './job-pod.ts';
import type { Verdict } from './job-verdict.ts';
import { matchPodFailurePolicy } from './pod-failure-policy.ts';

/** Maximum number of pods listed in the status at a time (MaxUncountedPods), which limits it to about 20 KB. */
const MAX_UNCOUNTED = 500;

export type TrackingInput = {
  facts: JobFacts;
  /** The Job's active pods, after this sync has created and deleted pods. */
  active: readonly Pod[];
  terminating: number;
  /** Why the Job ends. Set only once no pod is active. */
  verdict: Verdict | undefined;
  /**
   * Whether the Job's pods are still managed, because the Job is neither ending nor being deleted. Only then does the status reflect
   * `suspend`.
   */
  isManaged: boolean;
};

export type Tracking = {
  /** The status to write before finalizers are removed. It lists the pods that are losing their finalizers but are not counted yet. */
  status: JobStatus;
  /** The pods whose finalizers may be removed once the status has been written. */
  release: Pod[];
  /** Whether there are more terminated pods to count than the status may list at once. The next sync lists the remaining ones. */
  hasMore: boolean;
  /** The event to record if the Job has just been suspended or resumed. */
  event?: 'Suspended' | 'Resumed';
};

export function trackPods(input: TrackingInput): Tracking {
  const { facts, active, terminating, verdict } = input;
  const { job, pods, nowMs, succeededIndexes, failedIndexes } = facts;
  const withFinalizer = new Set(pods.filter(hasTrackingFinalizer).map(({ metadata: { uid } }) => uid));
  const counted = countReleased(job.status ?? {}, withFinalizer);
  const { release, hasMore, uncounted } = newlyUncounted(input, counted);
  const suspension = input.isManaged ? suspensionOf(job, nowMs) : undefined;
  const started = counted.startTime ?? (isSuspended(job) ? undefined : formatTime(nowMs));
  const status: JobStatus = {
    ...counted,
    startTime: started,
    ...suspension?.status,
    active: active.length,
    ready: active.filter(isReady).length,
    terminating,
    uncountedTerminatedPods: uncounted,
  };
  if (isIndexed(job)) {
    status.succeeded = succeededIndexes.size;
    status.completedIndexes = succeededIndexes.toString();
    status.failedIndexes = failedIndexes?.toString();
  }
  if (verdict !== undefined) status.conditions = withInterim(status.conditions, verdict, nowMs);
  return { status: normalized(status), release, hasMore, event: suspension?.event };
}

/** Returns the status after finalizers have been removed: listed pods without a finalizer are counted and removed from the list. */
export function countReleased(status: JobStatus, withFinalizer: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const left = {
    succeeded: succeeded.filter((uid) => withFinalizer.has(uid)),
    failed: failed.filter((uid) => withFinalizer.has(uid)),
  };
  return normalized({
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - left.succeeded.length,
    failed: (status.failed ?? 0) + failed.length - left.failed.length,
    uncountedTerminatedPods: left,
  });
}

/** Returns the final status, or nothing while some pods are uncounted or terminating. */
export function finishedStatus(status: JobStatus, verdict: Verdict, nowMs: number): JobStatus | undefined {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  if (succeeded.length + failed.length > 0 || (status.terminating ?? 0) > 0) return undefined;
  const condition = trueCondition(verdict.succeeds ? 'Complete' : 'Failed', verdict, nowMs);
  const completed = verdict.succeeds ? { completionTime: condition.lastTransitionTime } : {};
  return { ...status, conditions: withCondition(status.conditions, condition), ...completed };
}

/**
 * Lists the terminated pods that the Job's status does not count yet, up to `MAX_UNCOUNTED`, and the pods whose finalizer can be removed.
 */
function newlyUncounted(
  { facts, verdict }: TrackingInput,
  { uncountedTerminatedPods: known = {} }: JobStatus,
): { release: Pod[]; hasMore: boolean; uncounted: { succeeded: string[]; failed: string[] } } {
  const { job, countedIndexes } = facts;
  const uncounted = { succeeded: [...(known.succeeded ?? [])], failed: [...(known.failed ?? [])] };
  const newIndexes = new Set<number>();
  const release: Pod[] = [];
  const pods = facts.pods.filter((pod) => hasTrackingFinalizer(pod) && canRelease(facts, pod, verdict));
  for (const pod of isIndexed(job) ? byIndex(pods) : pods) {
    if (newIndexes.size + uncounted.succeeded.length + uncounted.failed.length >= MAX_UNCOUNTED)
      return { release, hasMore: true, uncounted };
    const { uid } = pod.metadata;
    release.push(pod);
    if (uncounted.failed.includes(uid)) continue;
    const endsAsFailed = verdict?.succeeds === false || (isFailed(job, pod) && !isSpared(job, pod));
    if (pod.status?.phase === 'Succeeded') {
      const index = completionIndex(pod);
      if (!isIndexed(job)) uncounted.succeeded = [...new Set([...uncounted.succeeded, uid])];
      else if (isCountable(job, pod) && !countedIndexes.has(index!)) newIndexes.add(index!);
    } else if (endsAsFailed && isCountable(job, pod) && matchPodFailurePolicy(job.spec.podFailurePolicy, pod).counts)
      uncounted.failed.push(uid);
  }
  return { release, hasMore: false, uncounted };
}

/**
 * Whether the pod's finalizer may be removed: the Job is ending, or the pod is in a terminal phase and no replacement needs its failure
 * count.
 */
function canRelease({ job, delayed }: JobFacts, pod: Pod, verdict: Verdict | undefined): boolean {
  if (job.metadata.deletionTimestamp !== undefined || verdict !== undefined) return true;
  if (pod.status?.phase === 'Succeeded') return true;
  const index = completionIndex(pod);
  const isKept = index !== undefined && delayed.get(index)?.metadata.uid === pod.metadata.uid;
  return isFailed(job, pod) && !isKept;
}

/** Whether the pod was deleted because the Job is succeeding, in which case it does not count as failed. */
function isSpared({ status }: Job, { metadata }: Pod): boolean {
  return isConditionTrue(status?.conditions, 'SuccessCriteriaMet') && metadata.deletionTimestamp !== undefined;
}

function byIndex(pods: readonly Pod[]): Pod[] {
  return pods.toSorted((a, b) => (completionIndex(a) ?? -1) - (completionIndex(b) ?? -1));
}

type Suspension = { event: 'Suspended' | 'Resumed'; status: Partial<JobStatus> };

/**
 * Returns the event and the status changes for a Job that has just been suspended or resumed. Deadlines count from the last time it was
 * resumed.
 */
function suspensionOf({ spec, status }: Job, nowMs: number): Suspension | undefined {
  const known = findCondition(status?.conditions, 'Suspended');
  const isSuspending = spec.suspend === true;
  if (known === undefined ? !isSuspending : known.status === (isSuspending ? 'True' : 'False')) return undefined;
  const time = formatTime(nowMs);
  const condition: JobCondition = {
    type: 'Suspended',
    status: isSuspending ? 'True' : 'False',
    lastProbeTime: time,
    lastTransitionTime: time,
    reason: isSuspending ? 'JobSuspended' : 'JobResumed',
    message: isSuspending ? 'Job suspended' : 'Job resumed',
  };
  return {
    event: isSuspending ? 'Suspended' : 'Resumed',
    status: { conditions: withCondition(status?.conditions, condition), startTime: isSuspending ? undefined : time },
  };
}

function withInterim(conditions: readonly JobCondition[] = [], verdict: Verdict, nowMs: number): JobCondition[] {
  const type = verdict.succeeds ? 'SuccessCriteriaMet' : 'FailureTarget';
  const isSet = isConditionTrue(conditions, type);
  return isSet ? [...conditions] : withCondition(conditions, trueCondition(type, verdict, nowMs));
}

function withCondition(conditions: readonly JobCondition[] = [], condition: JobCondition): JobCondition[] {
  const index = conditions.findIndex(({ type }) => type === condition.type);
  return index < 0 ? [...conditions, condition] : conditions.with(index, condition);
}

function trueCondition(type: string, { reason, message }: Verdict, nowMs: number): JobCondition {
  const time = formatTime(nowMs);
  return { type, status: 'True', lastProbeTime: time, lastTransitionTime: time, reason, message };
}

/** Removes the fields of a Job status that the server omits when empty (`omitempty`), so that an unchanged status compares as equal. */
function normalized({ uncountedTerminatedPods: listed = {}, ...status }: JobStatus): JobStatus {
  const { succeeded = [], failed = [] } = listed;
  const uncounted = {
    ...(succeeded.length === 0 ? {} : { succeeded }),
    ...(failed.length === 0 ? {} : { failed }),
  };
  const isEmpty = (value: unknown) =>
    value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  const zeroes = ['active', 'succeeded', 'failed'];
  const kept = Object.entries(status).filter(([name, value]) => {
    if (name === 'failedIndexes') return value !== undefined;
    return !isEmpty(value) && !(value === 0 && zeroes.includes(name));
  });
  return { ...Object.fromEntries(kept), uncountedTerminatedPods: uncounted };
}
