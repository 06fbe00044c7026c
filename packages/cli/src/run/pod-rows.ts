import type { Container, ContainerStatus, Pod } from '@podwright/kube-api';
import { containerStatuses, PULL_FAILURES } from './pod-end.ts';

/**
 * A container's state as displayed. `tone` selects the color. `failure` is why the container cannot start, and is the same for every
 * attempt. It is unset if the container starts but then crashes, or if the status has no message.
 */
export type ContainerRow = {
  pod: string;
  container: string;
  role: 'init' | 'sidecar' | '';
  state: string;
  tone: 'waiting' | 'good' | 'bad' | 'done';
  failure?: string;
};

/** Returns the pod's containers in start order, init containers first. */
export function containerRows(pod: Pod): ContainerRow[] {
  const statuses = containerStatuses(pod);
  const row = (container: Container, role: ContainerRow['role']): ContainerRow => ({
    pod: podLabel(pod),
    container: container.name,
    role,
    ...describe(
      statuses.find(({ name }) => name === container.name),
      container,
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

/** Returns `name` for a pod in namespace `default`, otherwise `namespace/name`. */
export function podLabel(pod: Pod): string {
  const { namespace, name } = pod.metadata;
  return namespace === 'default' ? name : `${namespace}/${name}`;
}

function describe(
  status: ContainerStatus | undefined,
  { image = '' }: Container,
  role: ContainerRow['role'],
): Pick<ContainerRow, 'state' | 'tone' | 'failure'> {
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
  if (calm) return { state: `${reason}${restarts}`, tone: 'waiting' };
  const message = waiting?.message ? `: ${waitingCause(reason, waiting.message, image)}` : '';
  const shown = { state: `${reason}${message}${restarts}`, tone: 'bad' as const };
  if (reason === 'CrashLoopBackOff' || message === '') return shown;
  return { ...shown, failure: (PULL_FAILURES.has(reason) ? 'ErrImagePull' : reason) + message };
}

/** The prefix that the kubelet adds to the last pull error during back-off. */
const PULL_BACK_OFF = /^Back-off pulling image "[^"]*": (?:\w+: )?/;

/**
 * Returns the error without the back-off prefix. For a pull error, adds the image unless the container runtime's message already contains
 * it.
 */
function waitingCause(reason: string, message: string, image: string): string {
  const error = firstLine(message).replace(PULL_BACK_OFF, '');
  return PULL_FAILURES.has(reason) && !error.includes(image) ? `${image}: ${error}` : error;
}

const RPC_ERROR = /\brpc error: code = \w+ desc = /;

/** A full container, sandbox or image ID. Its first 12 digits are enough to identify the object. */
const LONG_ID = /\b([0-9a-f]{12})[0-9a-f]{52}\b/g;

/** Matches a reference to a pod in the kubelet's messages: `pod=name_namespace(uid)`. */
const POD_ID = / (?:in pod |pod=)[a-z\d.-]+_[a-z\d-]+\([\da-f-]{32,36}\)/g;

const times = (count: number) => (count === 1 ? 'once' : `${count} times`);

/** Returns the first line of a message, with IDs shortened, and without the gRPC prefix and the pod, which the caller shows anyway. */
export function firstLine(text: string): string {
  return text.split('\n')[0]!.replace(RPC_ERROR, '').replaceAll(POD_ID, '').replaceAll(LONG_ID, '$1').slice(0, 300);
}
