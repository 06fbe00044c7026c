import { type Container, type ContainerStatus, isSidecar, type Pod } from '@podwright/kube-api';
import { lost } from './container-statuses.ts';

/** Statuses of a pod's init and main containers, in spec order. */
export type PodContainerStatuses = { init: ContainerStatus[]; main: ContainerStatus[] };

/**
 * Returns the container statuses of a terminated pod: a container whose exit was not observed counts as failed. A container that never
 * started stays waiting, unless that would leave no container showing that the pod failed (upstream's TerminatePod). Pure.
 */
export function endedStatuses(pod: Pod, { init, main }: PodContainerStatuses): PodContainerStatuses {
  const begun = Math.max(1, init.findLastIndex(hasBegun) + 1);
  return {
    init: init.map((status, index) => (index < begun ? ended(status) : status)),
    main: wasInitialized(pod, { init, main }) ? main.map(ended) : main,
  };
}

function ended(status: ContainerStatus): ContainerStatus {
  return status.state.terminated === undefined ? { ...status, state: { terminated: lost(status) } } : status;
}

function hasBegun({ state, lastState }: ContainerStatus): boolean {
  return state.waiting === undefined || lastState.terminated !== undefined;
}

/** Whether main containers might have been started. */
function wasInitialized({ spec }: Pod, { init, main }: PodContainerStatuses): boolean {
  const last = spec.initContainers?.at(-1);
  return last === undefined || main.some(hasBegun) || isDone(last, init.at(-1));
}

function isDone(container: Container, status: ContainerStatus | undefined): boolean {
  if (isSidecar(container)) return status?.state.running !== undefined && status.started === true;
  return [status?.state, status?.lastState].some((state) => state?.terminated?.exitCode === 0);
}
