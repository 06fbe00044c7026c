import type { Container, ContainerStatus, Pod } from '@podwright/kubelet';

/** One container as a person sees it. `tone` picks the colour. */
export type ContainerRow = {
  pod: string;
  container: string;
  role: 'init' | 'sidecar' | '';
  state: string;
  tone: 'waiting' | 'good' | 'bad' | 'done';
};

/** Every container of the pod in the order they start: init containers first. */
export function containerRows(pod: Pod): ContainerRow[] {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const row = (container: Container, role: ContainerRow['role']): ContainerRow => ({
    pod: podLabel(pod),
    container: container.name,
    role,
    ...describe(
      statuses.find(({ name }) => name === container.name),
      role,
    ),
  });
  return [
    ...(pod.spec.initContainers ?? []).map((container) =>
      row(container, container.restartPolicy === 'Always' ? 'sidecar' : 'init'),
    ),
    ...pod.spec.containers.map((container) => row(container, '')),
  ];
}

/** `name`, or `namespace/name` outside the namespace `default`. */
export function podLabel(pod: Pod): string {
  const { namespace, name } = pod.metadata;
  return namespace === 'default' ? name : `${namespace}/${name}`;
}

function describe(
  status: ContainerStatus | undefined,
  role: ContainerRow['role'],
): Pick<ContainerRow, 'state' | 'tone'> {
  if (status === undefined) return { state: 'Waiting', tone: 'waiting' };
  const restarts = status.restartCount === 0 ? '' : `, restarted ${times(status.restartCount)}`;
  const { waiting, running, terminated } = status.state;
  if (running !== undefined) {
    const ready =
      status.ready || role === 'init' ? 'Running' : status.started === false ? 'Starting' : 'Running, not ready';
    return { state: ready + restarts, tone: status.ready || role === 'init' ? 'good' : 'waiting' };
  }
  if (terminated !== undefined) {
    const ok = terminated.exitCode === 0;
    const why = ok
      ? ''
      : ` (exit code ${terminated.exitCode}${terminated.message ? `: ${firstLine(terminated.message)}` : ''})`;
    return { state: `${terminated.reason ?? 'Terminated'}${why}${restarts}`, tone: ok ? 'done' : 'bad' };
  }
  const reason = waiting?.reason ?? 'Waiting';
  const calm = reason === 'ContainerCreating' || reason === 'PodInitializing' || reason === 'Waiting';
  const message = waiting?.message ? `: ${firstLine(waiting.message)}` : '';
  return { state: `${reason}${calm ? '' : message}${restarts}`, tone: calm ? 'waiting' : 'bad' };
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`);
const firstLine = (text: string) => text.split('\n')[0]!.slice(0, 300);

/** What kubectl prints as a pod's STATUS: the most telling reason of its containers, else its phase. */
export function podStatusReason(pod: Pod): string {
  const status = pod.status;
  if (pod.metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (status === undefined) return 'Pending';
  if (status.reason !== undefined && status.reason !== '') return status.reason;
  const init = initStatusReason(pod);
  if (init !== undefined) return init;
  for (const { state } of status.containerStatuses ?? []) {
    if (state.waiting?.reason !== undefined && status.phase !== 'Succeeded') return state.waiting.reason;
    if (state.terminated !== undefined) return state.terminated.reason ?? `ExitCode:${state.terminated.exitCode}`;
  }
  return status.phase;
}

function initStatusReason(pod: Pod): string | undefined {
  const specs = pod.spec.initContainers ?? [];
  for (const [index, spec] of specs.entries()) {
    const status = pod.status?.initContainerStatuses?.find(({ name }) => name === spec.name);
    const { terminated, waiting } = status?.state ?? {};
    if (terminated?.exitCode === 0) continue;
    if (spec.restartPolicy === 'Always' && status?.started) continue;
    if (terminated !== undefined) return `Init:${terminated.reason ?? 'Error'}`;
    if (waiting?.reason !== undefined && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
    return `Init:${index}/${specs.length}`;
  }
  return undefined;
}

/** `ready/all`, sidecars counted as kubectl does. */
export function readyCount(pod: Pod): string {
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const names = new Set([...sidecars, ...pod.spec.containers].map(({ name }) => name));
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  return `${statuses.filter(({ name, ready }) => names.has(name) && ready).length}/${names.size}`;
}

export function restartCount(pod: Pod): number {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  return statuses.reduce((sum, status) => sum + status.restartCount, 0);
}

export const isEnded = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

/** True once the pod is ready, or has ended and so never will be. */
export const isSettled = (pod: Pod): boolean =>
  isEnded(pod) || (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');

/** Why pods failed as a whole, one line each: what no container tells, such as a host port that is taken. */
export function failureLines(pods: Pod[]): string[] {
  return pods.flatMap((pod) => {
    const { phase, reason, message } = pod.status ?? {};
    return phase === 'Failed' && message ? [`${podLabel(pod)}: ${reason ?? 'Failed'}: ${firstLine(message)}`] : [];
  });
}

/** 0 if every pod succeeded; otherwise the exit code of the first failed container, 1 if none tells. */
export function exitCodeOf(pods: Pod[]): number {
  for (const pod of pods.filter((candidate) => candidate.status?.phase !== 'Succeeded')) {
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    const failed = statuses.map(({ state }) => state.terminated?.exitCode ?? 0).find((code) => code !== 0);
    return failed ?? 1;
  }
  return 0;
}
