import {
  type Container,
  type ContainerStateTerminated,
  type ContainerStatus,
  hasFailedToPrepare,
  isSidecar,
  type Pod,
  type PodPhase,
  restartsAfter,
} from '@podwright/kube-api';
import { RESTARTING_ALL_CONTAINERS } from './all-containers-restarting.ts';

export type PhaseInput = {
  pod: Pod;
  initStatuses: ContainerStatus[];
  statuses: ContainerStatus[];
  /** True if a main container has been created in the pod's current sandbox. */
  initialized: boolean;
  /** True if no more containers of the pod will be started. */
  terminal: boolean;
};

type Tally = Record<'running' | 'waiting' | 'stopped' | 'restarting' | 'succeeded' | 'unknown', number>;

/** Whether the phase is terminal (Succeeded or Failed). */
export function isTerminal(phase: PodPhase | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Computes the pod's phase from its container states, following upstream's rules. */
export function podPhase({ pod, initStatuses, statuses, initialized, terminal }: PhaseInput): PodPhase {
  const init = tallyInit(pod, initStatuses);
  const main = tally(pod, statuses);
  if (init.failedForGood > 0 || (init.failed > 0 && terminal)) return 'Failed';
  const allStopped = main.stopped > 0 && main.running + main.waiting + main.unknown === 0;
  if (terminal && allStopped) return main.stopped === main.succeeded ? 'Succeeded' : 'Failed';
  if (init.pending > 0 || (init.starting > 0 && !initialized)) return 'Pending';
  if (main.waiting + main.unknown > 0) return 'Pending';
  if (main.running > 0) return 'Running';
  if (main.stopped === 0) return 'Pending';
  if (main.restarting > 0) return 'Running';
  return main.stopped === main.succeeded ? 'Succeeded' : 'Failed';
}

function tally(pod: Pod, statuses: ContainerStatus[]): Tally {
  const counts: Tally = { running: 0, waiting: 0, stopped: 0, restarting: 0, succeeded: 0, unknown: 0 };
  for (const container of pod.spec.containers) {
    const status = statuses.find(({ name }) => name === container.name);
    const end = status?.state.terminated ?? status?.lastState.terminated;
    if (status === undefined) counts.unknown++;
    else if (status.state.running !== undefined) counts.running++;
    else if (end !== undefined) {
      counts.stopped++;
      if (isRestarted(pod, container, end)) counts.restarting++;
      if (status.state.terminated?.exitCode === 0) counts.succeeded++;
    } else counts.waiting++;
  }
  return counts;
}

/** Whether a container that has exited will be restarted. */
function isRestarted(pod: Pod, container: Container, { exitCode, reason }: ContainerStateTerminated): boolean {
  return reason === RESTARTING_ALL_CONTAINERS || restartsAfter(pod, container, exitCode);
}

/**
 * Counts the states of init containers. A sidecar that is starting keeps an uninitialized pod Pending; a sidecar that has exited has no
 * effect.
 */
function tallyInit(
  pod: Pod,
  statuses: ContainerStatus[],
): Record<'pending' | 'starting' | 'failed' | 'failedForGood', number> {
  const counts = { pending: 0, starting: 0, failed: 0, failedForGood: 0 };
  for (const container of pod.spec.initContainers ?? []) {
    const status = statuses.find(({ name }) => name === container.name);
    const running = status?.state.running !== undefined;
    const end = status?.state.terminated ?? (running ? undefined : status?.lastState.terminated);
    if (isSidecar(container)) {
      if (running && status.started !== true) counts.starting++;
      if (!running && end === undefined) counts.pending++;
    } else if (end === undefined) counts.pending++;
    else if (hasFailedToPrepare(end)) {
      counts.failed++;
      if (!isRestarted(pod, container, end)) counts.failedForGood++;
    }
  }
  return counts;
}
