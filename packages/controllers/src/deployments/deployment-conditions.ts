import { findCondition, formatTime } from '@podwright/kube-api';
import type { DeploymentCondition } from '../objects/deployment.ts';

/** Reasons of the `Progressing` condition. */
export const REASON = {
  updated: 'ReplicaSetUpdated',
  createError: 'ReplicaSetCreateError',
  created: 'NewReplicaSetCreated',
  found: 'FoundNewReplicaSet',
  available: 'NewReplicaSetAvailable',
  timedOut: 'ProgressDeadlineExceeded',
  paused: 'DeploymentPaused',
  resumed: 'DeploymentResumed',
} as const;

type Conditions = readonly DeploymentCondition[];
type NewCondition = { type: string; status: string; reason: string; message: string };

export function withoutCondition(conditions: Conditions, type: string): DeploymentCondition[] {
  return conditions.filter((one) => one.type !== type);
}

/** Sets a condition. No-op if one with the same status and reason exists. The transition time changes only if the status does. */
export function withCondition(conditions: Conditions, condition: NewCondition, nowMs: number): DeploymentCondition[] {
  const known = findCondition(conditions, condition.type);
  if (known?.status === condition.status && known.reason === condition.reason) return [...conditions];
  return withNewCondition(conditions, condition, nowMs);
}

/** Like `withCondition`, but always sets a new update time and message. */
export function withNewCondition(
  conditions: Conditions,
  condition: NewCondition,
  nowMs: number,
): DeploymentCondition[] {
  const known = findCondition(conditions, condition.type);
  const time = formatTime(nowMs);
  const { type, status, reason, message } = condition;
  const lastTransitionTime = known?.status === status ? known.lastTransitionTime : time;
  const added = { type, status, lastUpdateTime: time, lastTransitionTime, reason, message };
  return [...withoutCondition(conditions, type), added];
}
