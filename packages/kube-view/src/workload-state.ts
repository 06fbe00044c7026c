/** The progress of a workload, computed from its status by the rules of `kubectl rollout status`. Pure. */

type Condition = { type: string; status: string; reason?: string; message?: string };

/** The fields of a workload that determine its progress. Any of them may be missing. */
export type Workload = {
  kind?: string;
  metadata: { name?: string; uid?: string; generation?: number };
  spec?: { replicas?: number; parallelism?: number; suspend?: boolean };
  status?: Record<string, unknown> & { observedGeneration?: number; conditions?: Condition[] };
};

export type WorkloadState = {
  /**
   * Whether the workload needs no more pods to become available: all of them are, or it is a Job that is complete, failed or suspended, or
   * a CronJob.
   */
  isComplete: boolean;
  /** Whether the workload creates no more pods: a Job that is complete or has failed. */
  isOver: boolean;
  /**
   * Number of pods that the workload maintains; undefined for a Job, and until the workload's controller has observed its current
   * generation.
   */
  wanted: number | undefined;
  /** Why the workload cannot make progress, such as `BackoffLimitExceeded: …`. */
  failure?: string;
  /** The progress as text, for example `1 of 2 pods available`. */
  progress: string;
};

const WORKLOADS = new Set([
  ...['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'],
]);
/** Kinds that run to completion. */
const ENDING = new Set(['Job']);

export const isWorkload = ({ kind }: { kind: string }): boolean => WORKLOADS.has(kind);
export const isEndless = ({ kind }: { kind: string }): boolean => WORKLOADS.has(kind) && !ENDING.has(kind);

export function workloadState(workload: Workload): WorkloadState {
  const { kind = '', metadata, spec = {}, status = {} } = workload;
  if (kind === 'Job') return jobState(workload);
  if (kind === 'CronJob') return { isComplete: true, isOver: false, wanted: 0, progress: 'waits for its schedule' };
  const count = (field: string) => (typeof status[field] === 'number' ? status[field] : 0);
  const isObserved = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  const isDaemonSet = kind === 'DaemonSet';
  const wanted = isDaemonSet ? count('desiredNumberScheduled') : (spec.replicas ?? 1);
  const available = count(isDaemonSet ? 'numberAvailable' : 'availableReplicas');
  const isUpdated = !UPDATED[kind] || count(UPDATED[kind]) >= wanted;
  const hasOld = kind === 'Deployment' && count('replicas') > count('updatedReplicas');
  const failure = failureOf(status.conditions);
  return {
    isComplete: isObserved && isUpdated && !hasOld && available >= wanted,
    isOver: false,
    wanted: isObserved ? wanted : undefined,
    ...(failure !== undefined && { failure }),
    progress: `${available} of ${wanted} pods available`,
  };
}

/** The status field that counts pods of the current revision, by kind. */
const UPDATED: Record<string, string> = {
  Deployment: 'updatedReplicas',
  StatefulSet: 'updatedReplicas',
  DaemonSet: 'updatedNumberScheduled',
};

function jobState({ spec = {}, status = {} }: Workload): WorkloadState {
  const ended = status.conditions?.find(
    ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
  );
  const active = Number(status.active ?? 0);
  const ready = Number(status.ready ?? 0);
  const counts = `${Number(status.succeeded ?? 0)} pods succeeded, ${active} active`;
  const progress = spec.suspend === true && ended === undefined ? 'suspended (spec.suspend)' : counts;
  const isRunning = spec.suspend === true || (active > 0 && ready >= active);
  return {
    isComplete: ended !== undefined || isRunning,
    isOver: ended !== undefined,
    wanted: undefined,
    ...(ended?.type === 'Failed' && { failure: reasonOf(ended) }),
    progress,
  };
}

function failureOf(conditions: readonly Condition[] = []): string | undefined {
  const failed = conditions.find(
    ({ type, status, reason }) =>
      (type === 'ReplicaFailure' && status === 'True') ||
      (type === 'Progressing' && reason === 'ProgressDeadlineExceeded'),
  );
  return failed && reasonOf(failed);
}

const reasonOf = ({ type, reason = type, message }: Condition): string =>
  message === undefined ? reason : `${reason}: ${message}`;
