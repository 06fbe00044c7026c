/** The restart of all of a pod's containers in its sandbox, by a RestartAllContainers rule that matches an exit code. Pure. */
import {
  allContainers,
  type ContainerStatus,
  couldRestartAllContainers,
  type Pod,
  type PodCondition,
  type PodPhase,
  restartsAllContainers,
} from '@podwright/kube-api';
import { latestContainer, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

/** Waiting reason of containers that have been removed for the restart. */
export const RESTARTING_ALL_CONTAINERS = 'RestartingAllContainers';

const CONDITION = 'AllContainersRestarting';

export type RestartingInput = {
  pod: Pod;
  phase: PodPhase;
  runtime: RuntimePodStatus;
  /** The pod's previous conditions. */
  previous: PodCondition[];
};

/** The condition AllContainersRestarting; `undefined` for a pod without such a rule. */
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

/** Whether the restart has begun or must begin. */
export function isRestartingAll(pod: Pod, runtime: RuntimePodStatus, previous: PodCondition[]): boolean {
  if (isMarked(previous)) return true;
  return allContainers(pod.spec).some((container) => {
    const current = latestContainer(runtime, container.name);
    return current?.state === 'exited' && restartsAllContainers(container, current.exitCode);
  });
}

/** Whether the conditions show that the restart has begun. */
export function isMarked(conditions: PodCondition[] | undefined): boolean {
  return conditions?.some(({ type, status }) => type === CONDITION && status === 'True') ?? false;
}

/** The status of a container that has been removed for the restart. */
export function removedStatus(old: ContainerStatus, blank: ContainerStatus): ContainerStatus {
  const why = {
    reason: RESTARTING_ALL_CONTAINERS,
    message: 'The container is removed because RestartAllContainers in place',
  };
  const lastState = { terminated: { ...why, exitCode: 137, containerID: old.containerID } };
  return { ...blank, state: { waiting: why }, lastState, restartCount: old.restartCount + 1 };
}
