/** Resolves the container, log or sandbox that an API request refers to. */
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { type ContainerStatus, everyContainer, namespacedName, type Pod } from '@podwright/kube-api';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import type { RuntimeContainer, RuntimePodStatus, RuntimeSandbox } from '../kubecontainer/runtime-pod.ts';
import { containerLogPath } from '../kuberuntime/container-config.ts';
import { podLogDirectory } from '../kuberuntime/pod-sandbox-config.ts';
import type { LegacyLogs, LogSource } from '../logs/container-logs.ts';

/**
 * Which of a container's logs to read. `previous` selects the attempt before the current one; `containerId` (as in the pod status) selects
 * a specific attempt.
 */
export type LogOfContainer = { container: string; previous: boolean; containerId?: string };

type LogsOfNode = { podLogsDir: string; legacyLogs: LegacyLogs | undefined };

/** Finds a container's log. Throws `not_found` if the pod has no such container, and `failed_precondition` if it has not started. */
export function containerLog(
  pod: Pod,
  { containers }: RuntimePodStatus,
  { container, previous, containerId, podLogsDir, legacyLogs: logs }: LogOfContainer & LogsOfNode,
): LogSource & { running: boolean } {
  const name = containerName(pod, container);
  const own = containers.filter((one) => one.name === name);
  const status = statusOf(pod, name);
  // the previous attempt is `lastState.terminated`; during crash back-off, that is the newest container
  const ended = previous ? status?.lastState.terminated?.containerID || undefined : undefined;
  const id = containerId ?? ended;
  const wanted = id === undefined ? own[previous ? 1 : 0] : own.find((one) => one.containerId === id);
  const directory = podLogDirectory(podLogsDir, podIdentity(pod));
  if (wanted === undefined) {
    const restartCount = status && endedAttempt(status, { previous, containerId: id });
    const path = restartCount === undefined ? undefined : join(directory, containerLogPath(name, restartCount));
    if (path !== undefined && existsSync(path)) return { path, legacy: undefined, running: false };
    throw missingLog(pod, name, { previous, containerId, wasRemoved: path !== undefined });
  }
  const path = isAbsolute(wanted.logPath)
    ? wanted.logPath
    : join(directory, containerLogPath(name, wanted.restartCount));
  const legacy = logs && { logs, containerId: wanted.id };
  return { path, legacy, running: wanted.state === 'running' };
}

/**
 * Returns the restart count of an attempt that the status shows as terminated. After a reboot, that attempt may no longer exist in the
 * container runtime.
 */
function endedAttempt(
  { state, lastState, restartCount }: ContainerStatus,
  { previous, containerId }: Pick<LogOfContainer, 'previous' | 'containerId'>,
): number | undefined {
  const last = { ended: lastState.terminated, attempt: state.waiting === undefined ? restartCount - 1 : restartCount };
  const attempts = previous ? [last] : [{ ended: state.terminated, attempt: restartCount }, last];
  const found = attempts.find(
    ({ ended }, at) =>
      ended !== undefined && (containerId === undefined ? at === 0 : ended.containerID === containerId),
  );
  return found?.attempt;
}

function missingLog(
  pod: Pod,
  name: string,
  { previous, containerId, wasRemoved }: { previous: boolean; containerId?: string; wasRemoved: boolean },
): PodwrightError {
  const what = previous ? 'previous log' : 'log';
  const where = `container ${name} of pod ${namespacedName(pod)}`;
  if (wasRemoved) return new PodwrightError('not_found', `find the ${what}: the ${what} of ${where} was removed`);
  if (previous) return new PodwrightError('not_found', `find the ${what}: ${where} has not been restarted`);
  if (containerId !== undefined)
    return new PodwrightError('not_found', `find the ${what}: ${where} has no attempt ${containerId}`);
  const why = waitingReason(pod, name);
  return new PodwrightError(
    'failed_precondition',
    `find the ${what}: ${where} has not started yet${why && `: ${why}`}`,
  );
}

/**
 * Returns the running container with this name. Throws `not_found` if the pod has no such container, and `failed_precondition` if it is not
 * running.
 */
export function runningContainer(pod: Pod, { containers }: RuntimePodStatus, wanted: string): RuntimeContainer {
  const name = containerName(pod, wanted);
  const found = containers.find((one) => one.name === name && one.state === 'running');
  if (found !== undefined) return found;
  const why = waitingReason(pod, name);
  const message = `reach container ${name} of pod ${namespacedName(pod)}: it does not run${why && ` (${why})`}`;
  throw new PodwrightError('failed_precondition', message);
}

/** Returns the pod's ready sandbox. Throws `failed_precondition` if there is none. */
export function readySandbox(pod: Pod, { sandboxes }: RuntimePodStatus): RuntimeSandbox {
  const found = sandboxes.find(({ ready }) => ready);
  if (found !== undefined) return found;
  throw new PodwrightError('failed_precondition', `forward ports of pod ${namespacedName(pod)}: it does not run`);
}

/** Resolves a container name, where '' stands for the first ordinary container. Throws `not_found` if the pod has no such container. */
function containerName(pod: Pod, wanted: string): string {
  const names = everyContainer(pod.spec).map(({ name }) => name);
  const name = wanted === '' ? pod.spec.containers[0]!.name : wanted;
  if (names.includes(name)) return name;
  const message = `find container ${name} of pod ${namespacedName(pod)}: it has ${names.join(', ')}`;
  throw new PodwrightError('not_found', message);
}

function statusOf({ status }: Pod, name: string): ContainerStatus | undefined {
  const statuses = [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ];
  return statuses.find((one) => one.name === name);
}

/** Returns the reason why a container is not running; '' if the reason is unknown. */
function waitingReason(pod: Pod, name: string): string {
  const { waiting, terminated } = statusOf(pod, name)?.state ?? {};
  if (terminated !== undefined) return `it ended with exit code ${terminated.exitCode}`;
  if (waiting !== undefined || (pod.status?.phase ?? 'Pending') !== 'Pending') return waiting?.reason ?? '';
  return pod.status?.reason ?? 'ContainerCreating'; // the reason that the pod's status will show
}
