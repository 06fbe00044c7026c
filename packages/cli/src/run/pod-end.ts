import type { Container, ContainerStatus, Pod } from '@podwright/kube-api';

/** Waiting for these takes a change of something else. */
const NEVER_PULLED = new Set(['ErrImageNeverPull', 'InvalidImageName']);
/** Reasons of a container that waits after a failed pull; the message has the code of each pull that was tried. */
export const PULL_FAILURES = new Set(['ErrImagePull', 'ImagePullBackOff']);
const PULL_CODE = /\brpc error: code = (\w+) desc = /g;
/** A registry that gave such an answer gives it again. */
const FINAL_CODES = new Set(['NotFound', 'InvalidArgument', 'Unauthenticated', 'PermissionDenied']);

/** Every container's status, init containers first. */
export function containerStatuses(pod: Pod): ContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

export const isEnded = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

export const isReady = (pod: Pod): boolean =>
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');

/** True for a pod that needs no explanation: it is ready, or has done its work. */
export const isWell = (pod: Pod): boolean =>
  pod.status?.phase === 'Succeeded' || (pod.status?.phase !== 'Failed' && isReady(pod));

/**
 * True for a pod of which nothing runs, as an image for its first start cannot be had, however long one waits; the kubelet tries
 * again all the same. A pull before a restart is another matter: the image was there once.
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

/** True for a pod that nothing more is expected of. */
export const isOver = (pod: Pod): boolean => isEnded(pod) || lacksImage(pod);

/**
 * True once the pod is ready, or as ready as it can ever be: it is over, or each of its containers is ready or has ended and is
 * not started again.
 */
export function isSettled(pod: Pod, over = isOver): boolean {
  if (over(pod) || isReady(pod)) return true;
  const statuses = pod.status?.containerStatuses ?? [];
  return pod.spec.containers.every(({ name }) => {
    const status = statuses.find((one) => one.name === name);
    return status !== undefined && (status.ready || hasEndedForGood(pod, status));
  });
}

/** True where more than its running tells how a settled pod is: it is over, or a probe has looked at each container. */
export function isProven(pod: Pod, over = isOver): boolean {
  const isProbed = ({ readinessProbe, startupProbe }: Container) => (readinessProbe ?? startupProbe) !== undefined;
  return over(pod) || pod.spec.containers.every(isProbed);
}

function hasEndedForGood(pod: Pod, { state: { terminated } }: ContainerStatus): boolean {
  if (terminated === undefined) return false;
  return pod.spec.restartPolicy === 'Never' || (pod.spec.restartPolicy === 'OnFailure' && terminated.exitCode === 0);
}

/** Containers that failed and are not started again, of a pod that goes on without them. */
export function lostContainers(pod: Pod): ContainerStatus[] {
  return (pod.status?.containerStatuses ?? []).filter(
    (status) => hasEndedForGood(pod, status) && status.state.terminated!.exitCode !== 0,
  );
}

/** 0 if every pod succeeded; otherwise the exit code of the first failed container, 1 if none tells. */
export function exitCodeOf(pods: Pod[]): number {
  for (const pod of pods.filter((candidate) => candidate.status?.phase !== 'Succeeded')) {
    const codes = containerStatuses(pod).map(({ state }) => state.terminated?.exitCode ?? 0);
    return codes.find((code) => code !== 0) ?? 1;
  }
  return 0;
}
