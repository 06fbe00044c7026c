import { findCondition } from '@podwright/kube-api';
/** Computes the status of a Deployment (pkg/controller/deployment/{sync,progress}.go). Pure. */
import type { Deployment, DeploymentCondition, DeploymentStatus } from '../objects/deployment.ts';
import type { ReplicaSet } from '../objects/replica-set.ts';
import { REASON, withCondition, withNewCondition, withoutCondition } from './deployment-conditions.ts';
import { maxUnavailable, progressDeadline, totalOf, totalSize, wantedReplicas } from './replica-counts.ts';
import type { Sets } from './scalings.ts';

const PROGRESSING = 'Progressing';
const AVAILABLE = 'Available';
const REPLICA_FAILURE = 'ReplicaFailure';
/** Replica counts are int32. A larger sum, which a huge `maxSurge` can cause, would make the status invalid. */
const MAX_INT32 = 2 ** 31 - 1;

/**
 * Returns the status of a Deployment that is paused, being scaled or being deleted: the counts and the `Available` condition. Progress is
 * not evaluated.
 */
export function plainStatus({ deployment, newSet, oldSets }: Sets, nowMs: number): DeploymentStatus {
  const all = newSet === undefined ? oldSets : [...oldSets, newSet];
  const { terminatingReplicas: _before, conditions = [], ...rest } = deployment.status ?? {};
  const available = totalOf(all, 'availableReplicas');
  const isAvailable = available >= wantedReplicas(deployment) - maxUnavailable(deployment);
  const condition = isAvailable
    ? { status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
    : {
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      };
  return {
    ...rest,
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: totalOf(all, 'replicas'),
    updatedReplicas: newSet === undefined ? 0 : totalOf([newSet], 'replicas'),
    readyReplicas: totalOf(all, 'readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.min(Math.max(0, totalSize(all) - available), MAX_INT32),
    ...(countsTerminating(all) ? { terminatingReplicas: totalOf(all, 'terminatingReplicas') } : {}),
    conditions: withCondition(conditions, { type: AVAILABLE, ...condition }, nowMs),
  };
}

/** Whether every ReplicaSet that has been observed reports its terminating pods. */
function countsTerminating(replicaSets: readonly ReplicaSet[]): boolean {
  return replicaSets.every(
    ({ status = {} }) => status.terminatingReplicas !== undefined || (status.observedGeneration ?? 0) === 0,
  );
}

/** Returns the status during a rollout, with ReplicaSet failures and, if there is a deadline, the `Progressing` condition. */
export function rolloutStatus(sets: Sets, nowMs: number): DeploymentStatus {
  const { deployment } = sets;
  const plain = plainStatus(sets, nowMs);
  const { conditions = [] } = plain;
  const progress = progressDeadline(deployment) === undefined ? undefined : progressOf(sets, plain, nowMs);
  const judged = progress ?? withoutCondition(conditions, PROGRESSING);
  return { ...plain, conditions: withFailure(judged, failureOf(sets)) };
}

/** Whether all desired pods are updated and available, and there are no others. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = wantedReplicas(deployment);
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  const isObserved = observedGeneration >= (deployment.metadata.generation ?? 0);
  return updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted && isObserved;
}

/** Returns the time until a lack of progress counts as a timeout, in milliseconds, unless the rollout is complete or timed out. */
export function untilDeadlineMs(deployment: Deployment, status: DeploymentStatus, nowMs: number): number | undefined {
  const deadline = progressDeadline(deployment);
  const condition = findCondition(status.conditions, PROGRESSING);
  if (deadline === undefined || condition === undefined || condition.reason === REASON.timedOut) return undefined;
  if (isComplete(deployment, status)) return undefined;
  return Math.max(0, deadlineMs(condition, deadline) - nowMs);
}

function progressOf({ deployment, newSet }: Sets, status: DeploymentStatus, nowMs: number): DeploymentCondition[] {
  const { conditions = [] } = status;
  const before = findCondition(deployment.status?.conditions, PROGRESSING);
  const isOver = status.replicas === status.updatedReplicas && before?.reason === REASON.available;
  if (isOver) return conditions;
  const subject =
    newSet === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newSet.metadata.name}"`;
  const progressing = (isTrue: boolean, reason: string, end: string) => ({
    type: PROGRESSING,
    status: isTrue ? 'True' : 'False',
    reason,
    message: `${subject} ${end}`,
  });
  if (isComplete(deployment, status))
    return withCondition(conditions, progressing(true, REASON.available, 'has successfully progressed.'), nowMs);
  if (hasProgressed(deployment.status ?? {}, status))
    return withNewCondition(conditions, progressing(true, REASON.updated, 'is progressing.'), nowMs);
  if (hasTimedOut(deployment, findCondition(conditions, PROGRESSING), nowMs))
    return withCondition(conditions, progressing(false, REASON.timedOut, 'has timed out progressing.'), nowMs);
  return conditions;
}

/** Whether a Deployment has progressed: it has more updated, ready or available pods than before, or fewer old ones. */
function hasProgressed(before: DeploymentStatus, now: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  return (
    (now.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(now) < old(before) ||
    (now.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function hasTimedOut(deployment: Deployment, condition: DeploymentCondition | undefined, nowMs: number): boolean {
  if (condition === undefined || condition.reason === REASON.available) return false;
  return condition.reason === REASON.timedOut || deadlineMs(condition, progressDeadline(deployment) ?? 0) < nowMs;
}

function deadlineMs({ lastUpdateTime = '' }: DeploymentCondition, seconds: number): number {
  return Date.parse(lastUpdateTime) + seconds * 1000;
}

/** Returns the failure of the new ReplicaSet or, if it has none, the first one of an old ReplicaSet. */
function failureOf({ newSet, oldSets }: Sets): DeploymentCondition | undefined {
  const sets = newSet === undefined ? oldSets : [newSet, ...oldSets];
  const conditions = sets.flatMap(({ status }) => status?.conditions ?? []);
  const failure = findCondition(conditions, REPLICA_FAILURE);
  if (failure === undefined) return undefined;
  const { type, status, lastTransitionTime, reason, message } = failure;
  return { type, status, lastUpdateTime: lastTransitionTime, lastTransitionTime, reason, message };
}

function withFailure(
  conditions: DeploymentCondition[],
  failure: DeploymentCondition | undefined,
): DeploymentCondition[] {
  const others = withoutCondition(conditions, REPLICA_FAILURE);
  if (failure === undefined) return others;
  const known = findCondition(conditions, REPLICA_FAILURE);
  const isKnown = known?.status === failure.status && known.reason === failure.reason;
  return isKnown ? conditions : [...others, failure];
}
