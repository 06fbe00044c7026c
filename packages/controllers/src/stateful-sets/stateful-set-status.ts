import type { Pod } from '@podwright/kube-api';
import type { StatefulSet, StatefulSetStatus } from '../objects/stateful-set.ts';
import { isAvailable, isReady } from '../pods/pod-state.ts';
import { revisionOf } from './pod-identity.ts';

export type StatusInput = {
  set: StatefulSet;
  /** The set's pods, including those about to be deleted. */
  pods: readonly Pod[];
  /** Names of the set's current and update ControllerRevisions. */
  current: string;
  update: string;
  collisionCount: number;
  nowMs: number;
};

/** Computes the StatefulSet's status (computeReplicaStatus, completeRollingUpdate). Unknown fields are preserved. */
export function statefulSetStatus({ set, pods, nowMs, ...revisions }: StatusInput): StatefulSetStatus {
  const { minReadySeconds = 0, replicas = 1, updateStrategy } = set.spec;
  const count = (isCounted: (pod: Pod) => boolean) => pods.filter(isCounted).length;
  const ready = (pod: Pod) => pod.status?.phase === 'Running' && isReady(pod);
  const ofRevision = (revision: string) =>
    count((pod) => pod.metadata.deletionTimestamp === undefined && revisionOf(pod) === revision);
  const status = {
    ...set.status,
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    readyReplicas: count(ready),
    availableReplicas: count((pod) => ready(pod) && isAvailable(pod, minReadySeconds, nowMs)),
    currentReplicas: ofRevision(revisions.current),
    updatedReplicas: ofRevision(revisions.update),
    currentRevision: revisions.current,
    updateRevision: revisions.update,
    collisionCount: revisions.collisionCount,
  };
  const counts = [status.updatedReplicas, status.readyReplicas, status.replicas];
  const isComplete = updateStrategy?.type !== 'OnDelete' && counts.every((one) => one === replicas);
  if (!isComplete) return status;
  return { ...status, currentReplicas: status.updatedReplicas, currentRevision: revisions.update };
}

/** Whether two statuses are equal. Absent counts are 0. */
export function isSameStatus(a: StatefulSetStatus = {}, b: StatefulSetStatus = {}): boolean {
  const fields = (status: StatefulSetStatus) => [
    status.observedGeneration ?? 0,
    status.replicas ?? 0,
    status.readyReplicas ?? 0,
    status.availableReplicas ?? 0,
    status.currentReplicas ?? 0,
    status.updatedReplicas ?? 0,
    status.currentRevision ?? '',
    status.updateRevision ?? '',
    status.collisionCount ?? 0,
  ];
  return JSON.stringify(fields(a)) === JSON.stringify(fields(b));
}
