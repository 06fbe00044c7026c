import type { Container, ContainerStatus, Pod } from '@podwright/kube-api';

/** Waiting reasons that no retry fixes. */
const NEVER_PULLED = new Set(['ErrImageNeverPull', 'InvalidImageName']);
/** Waiting reasons after a failed pull. The message contains the gRPC code of each attempt. */
export const PULL_FAILURES = new Set(['ErrImagePull', 'ImagePullBackOff']);
const PULL_CODE = /\brpc error: code = (\w+) desc = /g;
/** gRPC codes of pull failures that a retry does not fix. */
const FINAL_CODES = new Set(['NotFound', 'InvalidArgument', 'Unauthenticated', 'PermissionDenied']);

/** Every container's status, init containers first. */
export function containerStatuses(pod: Pod): ContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

export const isEnded = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

export const isReady = (pod: Pod): boolean =>
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');

/** True for a pod that needs no explanation: it is ready or has succeeded. */
export const isWell = (pod: Pod): boolean =>
  pod.status?.phase === 'Succeeded' || (pod.status?.phase !== 'Failed' && isReady(pod));

/**
 * True if no container of the pod runs because an image for its first start cannot be pulled and waiting would not help, although the
 * kubelet keeps trying. Pulls before a restart do not count: the image did exist once.
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

/** True for a pod that has ended or can never start. */
export const isOver = (pod: Pod): boolean => isEnded(pod) || lacksImage(pod);

/** True if the pod is ready or will never become ready: it has ended, or each container is ready or has ended without a later restart. */
export function isSettled(pod: Pod, over = isOver): boolean {
  if (over(pod) || isReady(pod)) return true;
  const statuses = pod.status?.containerStatuses ?? [];
  return pod.spec.containers.every(({ name }) => {
    const status = statuses.find((one) => one.name === name);
    return status !== undefined && (status.ready || hasEndedForGood(pod, status));
  });
}

/** True if a settled pod cannot turn out to fail shortly after: it has ended, or each container has a probe. */
export function isProven(pod: Pod, over = isOver): boolean {
  const isProbed = ({ readinessProbe, startupProbe }: Container) => (readinessProbe ?? startupProbe) !== undefined;
  return over(pod) || pod.spec.containers.every(isProbed);
}

function hasEndedForGood(pod: Pod, { state: { terminated } }: ContainerStatus): boolean {
  if (terminated === undefined) return false;
  return pod.spec.restartPolicy === 'Never' || (pod.spec.restartPolicy === 'OnFailure' && terminated.exitCode === 0);
}

/** Containers that have failed and are not restarted, while the pod keeps running. */
export function lostContainers(pod: Pod): ContainerStatus[] {
  return (pod.status?.containerStatuses ?? []).filter(
    (status) => hasEndedForGood(pod, status) && status.state.terminated!.exitCode !== 0,
  );
}

/** 0 if every pod succeeded; otherwise the exit code of the first failed container, or 1 if there is none. */
export function exitCodeOf(pods: Pod[]): number {
  for (const pod of pods.filter((candidate) => candidate.status?.phase !== 'Succeeded')) {
    const codes = containerStatuses(pod).map(({ state }) => state.terminated?.exitCode ?? 0);
    return codes.find((code) => code !== 0) ?? 1;
  }
  return 0;
}
