import { formatTime, matchesEveryLabel, type Pod } from '@podwright/kube-api';
import type { ReplicaSet, ReplicaSetCondition, ReplicaSetStatus } from '../objects/replica-set.ts';
import { isAvailable, isReady } from '../pods/pod-state.ts';

const REPLICA_FAILURE = 'ReplicaFailure';

export type StatusInput = {
  replicaSet: Pick<ReplicaSet, 'spec' | 'status'> & { metadata: { generation?: number } };
  /** The ReplicaSet's active pods (neither in a terminal phase nor being deleted). */
  active: readonly Pod[];
  /** Number of the ReplicaSet's pods that are being deleted, for kinds whose status includes it. */
  terminating?: number;
  /** The error of the last attempt to create or delete pods. */
  failure?: string;
  nowMs: number;
};

/**
 * Computes the status of a ReplicaSet or ReplicationController (calculateStatus, pkg/controller/replicaset/replica_set_utils.go). Unknown
 * fields are preserved.
 */
export function replicaSetStatus({ replicaSet, active, terminating, failure, nowMs }: StatusInput): ReplicaSetStatus {
  const { spec, status = {}, metadata } = replicaSet;
  const { minReadySeconds = 0, template } = spec;
  const { terminatingReplicas: _terminating, conditions: _conditions, ...rest } = status;
  const count = (isCounted: (pod: Pod) => boolean) => active.filter(isCounted).length;
  const conditions = conditionsOf({ replicaSet, active, failure, nowMs });
  return {
    ...rest,
    replicas: active.length,
    fullyLabeledReplicas: count((pod) => matchesEveryLabel(template.metadata?.labels ?? {}, pod.metadata.labels)),
    readyReplicas: count(isReady),
    availableReplicas: count((pod) => isAvailable(pod, minReadySeconds, nowMs)),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating }),
    observedGeneration: metadata.generation ?? 0,
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}

/** Returns the set's conditions. Leaves an existing `ReplicaFailure` unchanged, even if the latest failure is a different one. */
function conditionsOf({ replicaSet, active, failure, nowMs }: StatusInput): ReplicaSetCondition[] {
  const { conditions = [] } = replicaSet.status ?? {};
  const others = conditions.filter(({ type }) => type !== REPLICA_FAILURE);
  if (failure === undefined) return others;
  if (others.length < conditions.length) return conditions;
  const { replicas = 1 } = replicaSet.spec;
  const reason = active.length < replicas ? 'FailedCreate' : active.length > replicas ? 'FailedDelete' : '';
  const lastTransitionTime = formatTime(nowMs);
  return [...others, { type: REPLICA_FAILURE, status: 'True', lastTransitionTime, reason, message: failure }];
}

/** Whether both statuses have the same counts and conditions. Absent counts are 0. */
export function isSameStatus(a: ReplicaSetStatus = {}, b: ReplicaSetStatus = {}): boolean {
  const counts = ({ terminatingReplicas, ...status }: ReplicaSetStatus) => [
    status.replicas ?? 0,
    status.fullyLabeledReplicas ?? 0,
    status.readyReplicas ?? 0,
    status.availableReplicas ?? 0,
    status.observedGeneration ?? 0,
    terminatingReplicas ?? -1,
    status.conditions ?? [],
  ];
  return JSON.stringify(counts(a)) === JSON.stringify(counts(b));
}
