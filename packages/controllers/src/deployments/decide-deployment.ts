/** Decides the next steps of a Deployment (DeploymentController.syncDeployment). Pure. */
import { findCondition, type Pod } from '@podwright/kube-api';
import type { Deployment, DeploymentStatus } from '../objects/deployment.ts';
import type { ReplicaSet } from '../objects/replica-set.ts';
import { isEnded } from '../pods/pod-state.ts';
import { REASON, withCondition } from './deployment-conditions.ts';
import { isComplete, plainStatus, rolloutStatus, untilDeadlineMs } from './deployment-status.ts';
import { historyLimit, isRolling, progressDeadline, sizeOf, totalOf, wantedReplicas } from './replica-counts.ts';
import {
  newSetAnnotations,
  nextRevision,
  REVISION,
  recordedWanted,
  revisionOf,
  withRevisionAnnotation,
} from './replica-set-annotations.ts';
import {
  newSetSize,
  proportionalScalings,
  recreateScalings,
  rollingScalings,
  type Scaling,
  type Sets,
  scalingsTo,
} from './scalings.ts';
import { byCreation, newAndOld } from './template-identity.ts';

export type DeploymentState = {
  deployment: Deployment;
  /** The ReplicaSets controlled by the Deployment. */
  replicaSets: readonly ReplicaSet[];
  /** Returns the pods of a ReplicaSet. */
  podsOf: (replicaSet: ReplicaSet) => readonly Pod[];
  nowMs: number;
};

/** A step of a Deployment. The Deployment is handled again after each write, so the steps of one decision are independent of each other. */
export type DeploymentAction =
  /** Records a warning event, because the Deployment's selector is empty and selects all pods. */
  | { type: 'warn' }
  /** Creates the ReplicaSet for the Deployment's template. The status of `deployment` is written afterwards. */
  | { type: 'create'; deployment: Deployment; size: number; revision: number; oldSets: readonly ReplicaSet[] }
  /** Updates the annotations and `minReadySeconds` of the ReplicaSet that has the Deployment's template. */
  | { type: 'update'; replicaSet: ReplicaSet }
  | ({ type: 'scale' } & Scaling)
  | { type: 'delete'; replicaSet: ReplicaSet }
  /** Writes the Deployment's status and revision if they have changed. */
  | { type: 'report'; deployment: Deployment }
  /** Syncs the Deployment again after a delay. */
  | { type: 'wait'; ms: number };

/** Margin after the progress deadline before progress is checked, so that sub-second clock differences do not matter. */
const AFTER_DEADLINE_MS = 1000;

export function decideDeployment({
  deployment: read,
  replicaSets,
  podsOf,
  nowMs,
}: DeploymentState): DeploymentAction[] {
  if (selectsAll(read))
    return [{ type: 'warn' }, reportOf(read, { ...read.status, observedGeneration: read.metadata.generation })];
  const { newSet, oldSets } = newAndOld(read, replicaSets);
  const synced = newSet === undefined ? undefined : withRevision(read, newSet, nextRevision(oldSets));
  if (synced !== undefined && synced !== newSet) return [{ type: 'update', replicaSet: synced }];
  const known = newSet === undefined ? read : withKnownRevision(read, newSet, nowMs);
  const isDeleting = read.metadata.deletionTimestamp !== undefined;
  const deployment = isDeleting ? known : withPause(known, nowMs);
  const sets: Sets = { deployment, newSet, oldSets };
  const plain = () => reportOf(deployment, plainStatus(sets, nowMs));
  if (isDeleting) return [plain()];
  const { paused = false } = deployment.spec;
  const scalings = paused || isScaled(sets) ? proportionalScalings(sets) : [];
  // upstream also stops here if there is nothing to scale, so it never terminates the pods of a rollout whose strategy was changed to
  // Recreate
  if (paused || scalings.length > 0) {
    return [...stepsOf(scalings), ...(paused ? cleanUp(sets) : []), ...(scalings.length > 0 ? [] : [plain()])];
  }
  return isRolling(deployment) ? rollOut(sets, nowMs) : recreate(sets, podsOf, nowMs);
}

function selectsAll({ spec }: Deployment): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec.selector;
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

/**
 * Returns the ReplicaSet with its revision, the Deployment's annotations and the Deployment's `minReadySeconds`; the same object if nothing
 * changes.
 */
function withRevision(deployment: Deployment, newSet: ReplicaSet, revision: number): ReplicaSet {
  const before = newSet.metadata.annotations ?? {};
  const annotations = newSetAnnotations(deployment, before, revision);
  const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
  const isSame =
    Object.entries(annotations).every(([key, value]) => before[key] === value) &&
    (newSet.spec.minReadySeconds ?? 0) === minReadySeconds;
  if (isSame) return newSet;
  return {
    ...newSet,
    metadata: { ...newSet.metadata, annotations },
    spec: { ...newSet.spec, minReadySeconds },
  };
}

/** Copies the ReplicaSet's revision to the Deployment, and adds a `Progressing` condition if there is none. */
function withKnownRevision(deployment: Deployment, newSet: ReplicaSet, nowMs: number): Deployment {
  const revised = withRevisionAnnotation(deployment, newSet.metadata.annotations?.[REVISION] ?? '');
  const { conditions = [] } = deployment.status ?? {};
  if (progressDeadline(deployment) === undefined || findCondition(conditions, 'Progressing') !== undefined)
    return revised;
  const message = `Found new replica set "${newSet.metadata.name}"`;
  const found = { type: 'Progressing', status: 'True', reason: REASON.found, message };
  return { ...revised, status: { ...deployment.status, conditions: withCondition(conditions, found, nowMs) } };
}

/**
 * Reports pausing and resuming as `Progressing: Unknown`, so that paused time does not count as lack of progress. Does not replace the
 * condition of a rollout that has timed out.
 */
function withPause(deployment: Deployment, nowMs: number): Deployment {
  const { conditions = [] } = deployment.status ?? {};
  const reason = findCondition(conditions, 'Progressing')?.reason;
  const { paused = false } = deployment.spec;
  const isReported = (reason === REASON.paused) === paused;
  if (progressDeadline(deployment) === undefined || reason === REASON.timedOut || isReported) return deployment;
  const condition = paused
    ? { reason: REASON.paused, message: 'Deployment is paused' }
    : { reason: REASON.resumed, message: 'Deployment is resumed' };
  const unknown = { type: 'Progressing', status: 'Unknown', ...condition };
  return { ...deployment, status: { ...deployment.status, conditions: withCondition(conditions, unknown, nowMs) } };
}

/** Whether the desired number of replicas has changed since the ReplicaSets were last scaled. */
function isScaled({ deployment, newSet, oldSets }: Sets): boolean {
  const all = newSet === undefined ? oldSets : [...oldSets, newSet];
  return all.some((one) => {
    const recorded = recordedWanted(one);
    return sizeOf(one) > 0 && recorded !== undefined && recorded !== wantedReplicas(deployment);
  });
}

function rollOut(sets: Sets, nowMs: number): DeploymentAction[] {
  const { newSet } = sets;
  if (newSet === undefined) return [createOf(sets)];
  const scalings = rollingScalings({ ...sets, newSet });
  return scalings.length > 0 ? stepsOf(scalings) : reportProgress(sets, nowMs);
}

/** Scales up the new ReplicaSet of a Recreate rollout once all old pods are terminated or removed. */
function recreate(sets: Sets, podsOf: DeploymentState['podsOf'], nowMs: number): DeploymentAction[] {
  const { deployment, newSet, oldSets } = sets;
  const scalings = recreateScalings(sets);
  if (scalings.length > 0) return stepsOf(scalings);
  const hasOldPods =
    totalOf(oldSets, 'replicas') > 0 || oldSets.some((one) => podsOf(one).some((pod) => !isEnded(pod)));
  if (hasOldPods) return reportProgress(sets, nowMs, []);
  if (newSet === undefined) return [createOf(sets)];
  const grown = scalingsTo(newSet, wantedReplicas(deployment));
  return grown.length > 0 ? stepsOf(grown) : reportProgress(sets, nowMs);
}

function createOf(sets: Sets): DeploymentAction {
  const { deployment, oldSets } = sets;
  return { type: 'create', deployment, size: newSetSize(sets), revision: nextRevision(oldSets), oldSets };
}

/** Reports the status of a rollout. Old ReplicaSets are removed once the rollout has been reported as complete. */
function reportProgress(sets: Sets, nowMs: number, removed?: DeploymentAction[]): DeploymentAction[] {
  const { deployment } = sets;
  const isOver = isComplete(deployment, deployment.status ?? {});
  const status = rolloutStatus(sets, nowMs);
  const ms = untilDeadlineMs(deployment, status, nowMs);
  return [
    ...(removed ?? (isOver ? cleanUp(sets) : [])),
    reportOf(deployment, status),
    ...(ms === undefined ? [] : [{ type: 'wait' as const, ms: ms + AFTER_DEADLINE_MS }]),
  ];
}

/** Deletes unused old ReplicaSets beyond the history limit, oldest revisions first. */
function cleanUp({ deployment, oldSets }: Sets): DeploymentAction[] {
  const limit = historyLimit(deployment);
  if (limit === undefined) return [];
  const alive = oldSets.filter(({ metadata }) => metadata.deletionTimestamp === undefined).toSorted(byRevision);
  const surplus = alive.slice(0, Math.max(0, alive.length - limit));
  return surplus.filter(isUnused).map((replicaSet) => ({ type: 'delete', replicaSet }));
}

function isUnused(replicaSet: ReplicaSet): boolean {
  const { metadata, status = {} } = replicaSet;
  const isObserved = (metadata.generation ?? 0) <= (status.observedGeneration ?? 0);
  return isObserved && (status.replicas ?? 0) === 0 && sizeOf(replicaSet) === 0;
}

function byRevision(a: ReplicaSet, b: ReplicaSet): number {
  const [revisionA, revisionB] = [revisionOf(a), revisionOf(b)];
  if (revisionA === undefined || revisionB === undefined) return byCreation(a, b);
  return revisionA - revisionB || byCreation(a, b);
}

function stepsOf(scalings: readonly Scaling[]): DeploymentAction[] {
  return scalings.map((one) => ({ type: 'scale', ...one }));
}

function reportOf(deployment: Deployment, status: DeploymentStatus): DeploymentAction {
  return { type: 'report', deployment: { ...deployment, status } };
}
