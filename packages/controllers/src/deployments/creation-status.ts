/**
 * Computes the status that a Deployment reports after creating a ReplicaSet or failing to, and whether it has already been reported. Pure.
 */
import type { Deployment, DeploymentStatus } from '../objects/deployment.ts';
import type { ReplicaSet } from '../objects/replica-set.ts';
import { REASON, withCondition } from './deployment-conditions.ts';
import { rolloutStatus } from './deployment-status.ts';
import { progressDeadline } from './replica-counts.ts';
import { REVISION, withRevisionAnnotation } from './replica-set-annotations.ts';

export type CreatedInput = {
  deployment: Deployment;
  newSet: ReplicaSet;
  oldSets: readonly ReplicaSet[];
  revision: number;
};

/** Returns the Deployment with its revision and status after its ReplicaSet has been created. */
export function createdStatus({ deployment, newSet, oldSets, revision }: CreatedInput, nowMs: number): Deployment {
  const message = `Created new replica set "${newSet.metadata.name}"`;
  const created = { type: 'Progressing', status: 'True', reason: REASON.created, message };
  const revised = withProgress(withRevisionAnnotation(deployment, String(revision)), created, nowMs);
  return { ...revised, status: rolloutStatus({ deployment: revised, newSet, oldSets }, nowMs) };
}

/** Returns the Deployment with the condition for a ReplicaSet that could not be created. */
export function failedStatus(deployment: Deployment, message: string, nowMs: number): Deployment {
  const failed = { type: 'Progressing', status: 'False', reason: REASON.createError, message };
  return withProgress(deployment, failed, nowMs);
}

/** Whether two versions of a Deployment have the same revision and equal statuses. Absent counts are 0. */
export function isReported(read: Deployment, deployment: Deployment): boolean {
  const revision = ({ metadata }: Deployment) => metadata.annotations?.[REVISION];
  return revision(read) === revision(deployment) && statusText(read.status) === statusText(deployment.status);
}

function withProgress(
  deployment: Deployment,
  condition: Parameters<typeof withCondition>[1],
  nowMs: number,
): Deployment {
  if (progressDeadline(deployment) === undefined) return deployment;
  const { status = {} } = deployment;
  return { ...deployment, status: { ...status, conditions: withCondition(status.conditions ?? [], condition, nowMs) } };
}

function statusText({
  terminatingReplicas,
  collisionCount,
  conditions = [],
  ...status
}: DeploymentStatus = {}): string {
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = status;
  const { availableReplicas = 0, unavailableReplicas = 0 } = status;
  const counts = [observedGeneration, replicas, updatedReplicas, readyReplicas, availableReplicas, unavailableReplicas];
  return JSON.stringify([counts, terminatingReplicas ?? null, collisionCount ?? null, conditions]);
}
