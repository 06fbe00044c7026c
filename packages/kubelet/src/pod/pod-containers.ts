/** What people name of a pod that is there: its containers, their logs, its network. Errors say what they asked for. */
import { isAbsolute, join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import type { ContainerStatus } from '../api/pod-status.ts';
import { everyContainer, namespacedName, type Pod } from '../api/types.ts';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import type { RuntimeContainer, RuntimePodStatus, RuntimeSandbox } from '../kubecontainer/runtime-pod.ts';
import { podLogDirectory } from '../kuberuntime/pod-sandbox-config.ts';
import type { LegacyLogs, LogPlace } from '../logs/container-logs.ts';

/** `previous` asks for the attempt before, `containerId` (as a status has it) for that attempt. */
export type LogOfContainer = { container: string; previous: boolean; containerId?: string };

/** Where logs are on this node. */
type LogsOfNode = { podLogsDir: string; legacyLogs: LegacyLogs | undefined };

/** Where a container's log is. Throws `not_found` for a container that the pod does not have, `failed_precondition` for one that has not begun. */
export function containerLog(
  pod: Pod,
  { containers }: RuntimePodStatus,
  { container, previous, containerId, podLogsDir, legacyLogs: logs }: LogOfContainer & LogsOfNode,
): LogPlace & { running: boolean } {
  const name = containerName(pod, container);
  const own = containers.filter((one) => one.name === name);
  // the attempt before is the last that ended, as the status has it: between two tries that is the newest of all
  const ended = previous ? statusOf(pod, name)?.lastState.terminated?.containerID || undefined : undefined;
  const id = containerId ?? ended;
  const wanted = id === undefined ? own[previous ? 1 : 0] : own.find((one) => one.containerId === id);
  const where = `container ${name} of pod ${namespacedName(pod)}`;
  if (wanted === undefined && ended !== undefined) {
    throw new PodwrightError('not_found', `find the previous log: ${where} was restarted, and that log is gone by now`);
  }
  if (wanted === undefined && previous) {
    throw new PodwrightError('not_found', `find the previous log: ${where} has not been restarted`);
  }
  if (wanted === undefined && containerId !== undefined) {
    throw new PodwrightError('not_found', `find the log: ${where} has no attempt ${containerId}`);
  }
  if (wanted === undefined) {
    const why = waitingReason(pod, name);
    throw new PodwrightError('failed_precondition', `find the log: ${where} has not begun yet${why && `: ${why}`}`);
  }
  const directory = podLogDirectory(podLogsDir, podIdentity(pod));
  const path = isAbsolute(wanted.logPath) ? wanted.logPath : join(directory, name, `${wanted.restartCount}.log`);
  const legacy = logs && { logs, containerId: wanted.id };
  return { path, legacy, running: wanted.state === 'running' };
}

/** Throws `not_found` for a container that the pod does not have, `failed_precondition` for one that does not run. */
export function runningContainer(pod: Pod, { containers }: RuntimePodStatus, wanted: string): RuntimeContainer {
  const name = containerName(pod, wanted);
  const found = containers.find((one) => one.name === name && one.state === 'running');
  if (found !== undefined) return found;
  const why = waitingReason(pod, name);
  const message = `reach container ${name} of pod ${namespacedName(pod)}: it does not run${why && ` (${why})`}`;
  throw new PodwrightError('failed_precondition', message);
}

/** What has the pod's network. Throws `failed_precondition`. */
export function readySandbox(pod: Pod, { sandboxes }: RuntimePodStatus): RuntimeSandbox {
  const found = sandboxes.find(({ ready }) => ready);
  if (found !== undefined) return found;
  throw new PodwrightError('failed_precondition', `forward ports of pod ${namespacedName(pod)}: it does not run`);
}

/** '' means the first ordinary container. */
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

/** What keeps a container from running, '' if nothing is known to. */
function waitingReason(pod: Pod, name: string): string {
  const { waiting, terminated } = statusOf(pod, name)?.state ?? {};
  if (terminated !== undefined) return `it ended with exit code ${terminated.exitCode}`;
  return waiting?.reason ?? '';
}
