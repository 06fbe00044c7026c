import { type Container, type ContainerStatus, isSidecar, type PodPhase, type PodSpec } from '../api/types.ts';

export type PhaseInput = {
  spec: PodSpec;
  initStatuses: ContainerStatus[];
  statuses: ContainerStatus[];
  /** Nothing of the pod will be started any more. */
  terminal: boolean;
};

type Tally = { running: number; waiting: number; stopped: number; succeeded: number; unknown: number };

/** The pod's phase from its containers' states, by the kubelet's rules. */
export function podPhase({ spec, initStatuses, statuses, terminal }: PhaseInput): PodPhase {
  const init = tallyInit(spec.initContainers ?? [], initStatuses);
  const main = tally(spec.containers, statuses);
  const never = spec.restartPolicy === 'Never';
  if (init.failed > 0 && (never || terminal)) return 'Failed';
  const allStopped = main.stopped > 0 && main.running + main.waiting + main.unknown === 0;
  if (terminal && allStopped) return main.stopped === main.succeeded ? 'Succeeded' : 'Failed';
  if (init.pending > 0 && main.running + main.stopped === 0) return 'Pending';
  if (main.waiting > 0) return 'Pending';
  if (main.unknown > 0) return 'Pending';
  if (main.running > 0) return 'Running';
  if (main.stopped === 0) return 'Pending';
  if (spec.restartPolicy === 'Always') return 'Running';
  if (main.stopped === main.succeeded) return 'Succeeded';
  return never ? 'Failed' : 'Running';
}

function tally(containers: Container[], statuses: ContainerStatus[]): Tally {
  const counts: Tally = { running: 0, waiting: 0, stopped: 0, succeeded: 0, unknown: 0 };
  for (const { name } of containers) {
    const status = statuses.find((one) => one.name === name);
    if (status === undefined) counts.unknown++;
    else if (status.state.running !== undefined) counts.running++;
    else if (status.state.terminated !== undefined) {
      counts.stopped++;
      if (status.state.terminated.exitCode === 0) counts.succeeded++;
    } else if (status.lastState.terminated !== undefined) counts.stopped++;
    else counts.waiting++;
  }
  return counts;
}

function tallyInit(containers: Container[], statuses: ContainerStatus[]): { pending: number; failed: number } {
  const counts = { pending: 0, failed: 0 };
  for (const container of containers) {
    const status = statuses.find(({ name }) => name === container.name);
    if (isSidecar(container)) {
      if (status?.started !== true) counts.pending++;
      continue;
    }
    const end = status?.state.terminated ?? (status?.state.running ? undefined : status?.lastState.terminated);
    if (end === undefined) counts.pending++;
    else if (end.exitCode !== 0) {
      counts.failed++;
      counts.pending++;
    }
  }
  return counts;
}
