/**
 * In-place restart of all containers of a pod, triggered by a RestartAllContainers rule that matches an exit code. The pod's sandbox is
 * retained. Pure.
 */
import {
  allContainers,
  type ContainerStatus,
  couldRestartAllContainers,
  isConditionTrue,
  type Pod,
  type PodCondition,
  type PodPhase,
  restartsAllContainers,
} from '@podwright/kube-api';
import { latestContainer, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

/** Waiting reason of containers that were removed for the restart. */
export const RESTARTING_ALL_CONTAINERS = 'RestartingAllContainers';

const CONDITION = 'AllContainersRestarting';

export type RestartingInput = {
  pod: Pod;
  phase: PodPhase;
  runtime: RuntimePodStatus;
  previous: PodCondition[];
};

/** Returns the AllContainersRestarting condition; `undefined` if the pod has no such restart rule. */
export function restartingCondition({
  pod,
  phase,
  runtime,
  previous,
}: RestartingInput): Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'> | undefined {
  if (!couldRestartAllContainers(pod.spec)) return undefined;
  if (phase === 'Succeeded') return { type: CONDITION, status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { type: CONDITION, status: 'False', reason: 'PodFailed' };
  const removed = allContainers(pod.spec).every(({ name }) => latestContainer(runtime, name) === undefined);
  if (removed || !isRestartingAll(pod, runtime, previous)) return { type: CONDITION, status: 'False' };
  const message = 'container exited with restart policy rule';
  return { type: CONDITION, status: 'True', reason: 'RestartAllContainersStarted', message };
}

/** Returns true if the restart of all containers has started or must start. */
export function isRestartingAll(pod: Pod, runtime: RuntimePodStatus, previous: PodCondition[]): boolean {
  if (isMarked(previous)) return true;
  return allContainers(pod.spec).some((container) => {
    const current = latestContainer(runtime, container.name);
    return current?.state === 'exited' && restartsAllContainers(container, current.exitCode);
  });
}

/** Whether the conditions show that the restart has started. */
export function isMarked(conditions: PodCondition[] | undefined): boolean {
  return isConditionTrue(conditions, CONDITION);
}

/** Returns the status of a container that was removed for the restart of all containers. */
export function removedStatus(old: ContainerStatus, blank: ContainerStatus): ContainerStatus {
  const why = {
    reason: RESTARTING_ALL_CONTAINERS,
    message: 'The container is removed because RestartAllContainers in place',
  };
  const lastState = { terminated: { ...why, exitCode: 137, containerID: old.containerID } };
  return { ...blank, state: { waiting: why }, lastState, restartCount: old.restartCount + 1 };
}
