import type { Container, ContainerStatus, Pod } from '@podwright/kubelet';
import { containerStatuses } from './pod-end.ts';

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
  const statuses = containerStatuses(pod);
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

/** The start of a container's, sandbox's or image's ID is enough to find it. */
const LONG_ID = /\b([0-9a-f]{12})[0-9a-f]{52}\b/g;

/** As the kubelet writes a pod: `pod=name_namespace(uid)`. */
const POD_ID = / (?:in pod |pod=)[a-z\d.-]+_[a-z\d-]+\([\da-f-]{32,36}\)/g;

const times = (count: number) => (count === 1 ? 'once' : `${count} times`);

/** The first line of a message, with long IDs cut, and without the pod's, which is shown beside it. */
export function firstLine(text: string): string {
  return text.split('\n')[0]!.replaceAll(POD_ID, '').replaceAll(LONG_ID, '$1').slice(0, 300);
}
