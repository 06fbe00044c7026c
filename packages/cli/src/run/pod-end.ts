import { type Container, type ContainerStatus, isSidecar, type Pod } from '@podwright/kube-api';

/** Waiting reasons of image failures that no retry can fix. */
const NEVER_PULLED = new Set(['ErrImageNeverPull', 'InvalidImageName']);
/** Waiting reasons after a failed pull. The message contains the gRPC code of each attempt. */
export const PULL_FAILURES = new Set(['ErrImagePull', 'ImagePullBackOff']);
const PULL_CODE = /\brpc error: code = (\w+) desc = /g;
/** gRPC codes of pull failures that a retry cannot fix. */
const FINAL_CODES = new Set(['NotFound', 'InvalidArgument', 'Unauthenticated', 'PermissionDenied']);

/** Returns the status of every container, init containers first. */
export function containerStatuses(pod: Pod): ContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

export const isEnded = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

export const isReady = (pod: Pod): boolean =>
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');

/** Whether the pod needs no explanation because it is ready or has succeeded. */
export const isWell = (pod: Pod): boolean =>
  pod.status?.phase === 'Succeeded' || (pod.status?.phase !== 'Failed' && isReady(pod));

/**
 * True if none of the pod's containers are running because an image needed for a first start cannot be pulled and waiting would not help,
 * even though the kubelet keeps retrying. Containers that have been restarted do not count, because their image existed at some point.
 */
export function lacksImage(pod: Pod): boolean {
  const statuses = containerStatuses(pod);
  if (statuses.some(({ state }) => state.running !== undefined)) return false;
  return statuses.some(({ restartCount, state: { waiting: { reason = '', message = '' } = {} } }) => {
    if (restartCount > 0) return false;
    if (NEVER_PULLED.has(reason)) return true;
    const codes = [...message.matchAll(PULL_CODE)].map(([, code]) => code!);
    return PULL_FAILURES.has(reason) && codes.length > 0 && codes.every((code) => FINAL_CODES.has(code));
  });
}

/** Whether the pod has terminated or can never start. */
export const isOver = (pod: Pod): boolean => isEnded(pod) || lacksImage(pod);

/**
 * True if the pod is ready or will never become ready. The latter is the case if the pod has terminated, or if each of its containers is
 * ready or has terminated and will not be restarted.
 */
export function isSettled(pod: Pod, over = isOver): boolean {
  if (over(pod) || isReady(pod)) return true;
  const statuses = pod.status?.containerStatuses ?? [];
  return pod.spec.containers.every(({ name }) => {
    const status = statuses.find((one) => one.name === name);
    return status !== undefined && (status.ready || hasEndedForGood(pod, status));
  });
}

/** True if a settled pod cannot turn out to fail shortly afterwards, because it has terminated or each of its containers has a probe. */
export function isProven(pod: Pod, over = isOver): boolean {
  const isProbed = ({ readinessProbe, startupProbe }: Container) => (readinessProbe ?? startupProbe) !== undefined;
  return over(pod) || pod.spec.containers.every(isProbed);
}

function hasEndedForGood(pod: Pod, { state: { terminated } }: ContainerStatus): boolean {
  if (terminated === undefined) return false;
  return pod.spec.restartPolicy === 'Never' || (pod.spec.restartPolicy === 'OnFailure' && terminated.exitCode === 0);
}

/** Returns the containers that have failed and will not be restarted, although the pod keeps running. */
export function lostContainers(pod: Pod): ContainerStatus[] {
  return (pod.status?.containerStatuses ?? []).filter(
    (status) => hasEndedForGood(pod, status) && status.state.terminated!.exitCode !== 0,
  );
}

/**
 * Returns 0 if every pod succeeded; otherwise the exit code of the container that failed first, or 1 if no container failed. Sidecars are
 * ignored: they are stopped after the other containers, and their exit codes say nothing about the work.
 */
export function exitCodeOf(pods: Pod[]): number {
  const failed = pods.filter(({ status }) => status?.phase !== 'Succeeded');
  if (failed.length === 0) return 0;
  const ends = failed.flatMap(workEnds).filter(({ exitCode }) => exitCode !== 0);
  const first = ends.sort((a, b) => (a.finishedAt ?? '').localeCompare(b.finishedAt ?? '')).at(0);
  return first?.exitCode ?? 1;
}

/** Returns the terminations of the pod's containers, except sidecars. */
function workEnds(pod: Pod): NonNullable<ContainerStatus['state']['terminated']>[] {
  const sidecars = new Set((pod.spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  return containerStatuses(pod).flatMap(({ name, state }) => (sidecars.has(name) ? [] : (state.terminated ?? [])));
}
