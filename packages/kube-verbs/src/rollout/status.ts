import { PodwrightError } from '@podwright/base';
import { findCondition } from '@podwright/kube-api';
import type { Workload } from '../workload.ts';

/** The progress of a rollout. `text` uses kubectl's wording. */
export type RolloutStatus = { text: string; isDone: boolean };

/**
 * Returns the status of a rollout. Throws `failed_precondition` if it cannot be followed, and `deadline_exceeded` if a Deployment has
 * exceeded its progress deadline.
 */
export function rolloutStatus(workload: Workload): RolloutStatus {
  const { kind = '' } = workload;
  const statusOf = STATUS[kind];
  if (statusOf !== undefined) return statusOf(workload);
  throw new PodwrightError('invalid_argument', `no status viewer has been implemented for ${kind}`);
}

const STATUS: Record<string, (workload: Workload) => RolloutStatus> = {
  Deployment: deploymentStatus,
  DaemonSet: daemonSetStatus,
  StatefulSet: statefulSetStatus,
};

const waiting = (text: string): RolloutStatus => ({ text, isDone: false });
const done = (text: string): RolloutStatus => ({ text, isDone: true });

const isObserved = ({ metadata, status }: Workload): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);

function deploymentStatus(deployment: Workload): RolloutStatus {
  const { metadata, spec, status = {} } = deployment;
  const rollout = `Waiting for deployment "${metadata.name}" rollout to finish`;
  if (!isObserved(deployment)) return waiting('Waiting for deployment spec update to be observed...');
  const progress = findCondition(status.conditions, 'Progressing');
  if (progress?.reason === 'ProgressDeadlineExceeded')
    throw new PodwrightError('deadline_exceeded', `deployment "${metadata.name}" exceeded its progress deadline`);
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = status;
  const wanted = spec.replicas ?? 1;
  if (updatedReplicas < wanted)
    return waiting(`${rollout}: ${updatedReplicas} out of ${wanted} new replicas have been updated...`);
  if (replicas > updatedReplicas)
    return waiting(`${rollout}: ${replicas - updatedReplicas} old replicas are pending termination...`);
  if (availableReplicas < updatedReplicas)
    return waiting(`${rollout}: ${availableReplicas} of ${updatedReplicas} updated replicas are available...`);
  return done(`deployment "${metadata.name}" successfully rolled out`);
}

function requireRolling({ spec }: Workload): void {
  if (spec.updateStrategy?.type !== 'RollingUpdate')
    throw new PodwrightError('failed_precondition', 'rollout status is only available for RollingUpdate strategy type');
}

function daemonSetStatus(set: Workload): RolloutStatus {
  requireRolling(set);
  const { metadata, status = {} } = set;
  const rollout = `Waiting for daemon set "${metadata.name}" rollout to finish`;
  if (!isObserved(set)) return waiting('Waiting for daemon set spec update to be observed...');
  const { updatedNumberScheduled = 0, desiredNumberScheduled = 0, numberAvailable = 0 } = status;
  if (updatedNumberScheduled < desiredNumberScheduled)
    return waiting(
      `${rollout}: ${updatedNumberScheduled} out of ${desiredNumberScheduled} new pods have been updated...`,
    );
  if (numberAvailable < desiredNumberScheduled)
    return waiting(`${rollout}: ${numberAvailable} of ${desiredNumberScheduled} updated pods are available...`);
  return done(`daemon set "${metadata.name}" successfully rolled out`);
}

function statefulSetStatus(set: Workload): RolloutStatus {
  requireRolling(set);
  const { spec, status = {} } = set;
  if (!status.observedGeneration || !isObserved(set))
    return waiting('Waiting for statefulset spec update to be observed...');
  const { replicas = 1, updateStrategy } = spec;
  const { readyReplicas = 0, updatedReplicas = 0, updateRevision, currentRevision, currentReplicas = 0 } = status;
  if (readyReplicas < replicas) return waiting(`Waiting for ${replicas - readyReplicas} pods to be ready...`);
  const partition = updateStrategy?.rollingUpdate?.partition;
  if (partition !== undefined) {
    const wanted = replicas - partition;
    if (updatedReplicas < wanted)
      return waiting(
        `Waiting for partitioned roll out to finish: ${updatedReplicas} out of ${wanted} new pods have been updated...`,
      );
    return done(`partitioned roll out complete: ${updatedReplicas} new pods have been updated...`);
  }
  if (updateRevision !== currentRevision)
    return waiting(
      `waiting for statefulset rolling update to complete ${updatedReplicas} pods at revision ${updateRevision}...`,
    );
  return done(`statefulset rolling update complete ${currentReplicas} pods at revision ${currentRevision}...`);
}
