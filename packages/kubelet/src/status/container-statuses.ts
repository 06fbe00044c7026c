import { formatTime } from '../api/time.ts';
import {
  type Container,
  type ContainerState,
  type ContainerStatus,
  isSidecar,
  type Pod,
  type ResourceRequirements,
} from '../api/types.ts';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';
import type { ProbeResult } from '../prober/probe-results.ts';
import { removedStatus } from './all-containers-restarting.ts';

/** What statuses are made from besides what the runtime says. */
export type StatusSources = {
  pod: Pod;
  runtime: RuntimePodStatus;
  /** The status before, which knows what the runtime may have forgotten. */
  previous: Map<string, ContainerStatus>;
  /** Why a container could not be started, by its name. */
  waitingReason(containerName: string): WaitingReason | undefined;
  readiness(containerId: string): ProbeResult | undefined;
  startup(containerId: string): ProbeResult | undefined;
  /** What a running container was given of CPU and memory. */
  actuated?: (container: RuntimeContainer) => ResourceRequirements | undefined;
  /** True once the pod ends: nothing will be started any more. */
  terminal: boolean;
  /** The pod begins anew in its sandbox: what the runtime does not have of it was removed for that. */
  restarting: boolean;
  /** How much of a termination message each container may show. */
  maxMessageBytes: number;
};

/** Statuses of these containers, in their order. */
export function containerStatuses(containers: Container[], sources: StatusSources): ContainerStatus[] {
  return containers.map((container) => containerStatus(container, sources));
}

function containerStatus(container: Container, sources: StatusSources): ContainerStatus {
  const own = sources.runtime.containers.filter(({ name }) => name === container.name);
  const newest = own[0];
  const status =
    newest === undefined ? neverSeen(container, sources) : seen(container, { newest, before: own[1] }, sources);
  applyResources(container, status, newest && sources.actuated?.(newest));
  applyWaitingReason(container, status, sources);
  if (newest !== undefined && !isEphemeral(sources.pod, container)) applyProbes(container, { status, newest }, sources);
  return status;
}

/** The runtime knows nothing of the container: it was not created yet, or was removed. */
function neverSeen(container: Container, { pod, previous, terminal, restarting }: StatusSources): ContainerStatus {
  const old = previous.get(container.name);
  const blank: ContainerStatus = {
    name: container.name,
    state: { waiting: { reason: defaultWaitingReason(pod) } },
    lastState: {},
    ready: false,
    started: false,
    restartCount: old?.restartCount ?? 0,
    image: container.image,
    imageID: '',
  };
  if (old === undefined) return blank;
  if (restarting && !isEphemeral(pod, container) && old.state.waiting === undefined) return removedStatus(old, blank);
  if (old.state.terminated !== undefined) {
    // It ran to its end and was then garbage collected.
    return { ...old, ready: !isSidecar(container) && isInit(pod, container) && old.state.terminated.exitCode === 0 };
  }
  if (old.state.running === undefined) return { ...blank, lastState: old.lastState };
  const lost = {
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
    exitCode: 137,
    containerID: old.containerID,
  };
  if (terminal) return { ...blank, state: { terminated: lost } };
  return { ...blank, lastState: { terminated: { ...lost, message: 'The container could not be located' } } };
}

function isEphemeral(pod: Pod, container: Container): boolean {
  return pod.spec.ephemeralContainers?.includes(container) === true;
}

function isInit(pod: Pod, container: Container): boolean {
  return pod.spec.initContainers?.includes(container) === true;
}

function defaultWaitingReason(pod: Pod): string {
  return (pod.spec.initContainers?.length ?? 0) > 0 ? 'PodInitializing' : 'ContainerCreating';
}

function seen(
  container: Container,
  { newest, before }: { newest: RuntimeContainer; before: RuntimeContainer | undefined },
  { pod, previous, maxMessageBytes }: StatusSources,
): ContainerStatus {
  const old = previous.get(container.name);
  const state = containerState(pod, newest, maxMessageBytes);
  const known = old?.containerID === newest.containerId ? old.lastState : old?.state;
  const lastState =
    before === undefined ? { terminated: known?.terminated } : containerState(pod, before, maxMessageBytes);
  return {
    name: container.name,
    state,
    lastState: lastState.terminated === undefined ? {} : { terminated: lastState.terminated },
    ready: false,
    started: false,
    restartCount: newest.restartCount,
    image: newest.image === '' ? container.image : newest.image,
    imageID: newest.imageId,
    containerID: newest.containerId,
  };
}

function containerState(pod: Pod, container: RuntimeContainer, maxMessageBytes: number): ContainerState {
  if (container.state === 'running') return { running: { startedAt: formatTime(container.startedAtMs) } };
  if (container.state === 'created') return { waiting: { reason: defaultWaitingReason(pod) } };
  if (container.state === 'unknown') {
    return { waiting: { reason: 'ContainerStatusUnknown', message: 'The runtime does not know the state' } };
  }
  return {
    terminated: {
      exitCode: container.exitCode,
      reason: container.reason || (container.exitCode === 0 ? 'Completed' : 'Error'),
      ...(container.message === '' ? {} : { message: cutText(container.message, maxMessageBytes) }),
      startedAt: formatTime(container.startedAtMs),
      finishedAt: formatTime(container.finishedAtMs),
      containerID: container.containerId,
    },
  };
}

/** What the container asks for, and what it has; nothing of either for one that asks for nothing. */
function applyResources(container: Container, status: ContainerStatus, given: ResourceRequirements | undefined): void {
  const { requests, limits } = container.resources ?? {};
  if (requests !== undefined) status.allocatedResources = requests;
  if (requests !== undefined || limits !== undefined) status.resources = given ?? container.resources;
}

/** A container that should run but could not be started waits, and its end moves to `lastState`. */
function applyWaitingReason(container: Container, status: ContainerStatus, sources: StatusSources): void {
  if (sources.terminal || status.state.running !== undefined) return;
  const reason = sources.waitingReason(container.name);
  if (reason === undefined) return;
  if (status.state.terminated !== undefined) status.lastState = { terminated: status.state.terminated };
  status.state = { waiting: { reason: reason.reason, message: reason.message } };
}

type Observed = { status: ContainerStatus; newest: RuntimeContainer };

function applyProbes(container: Container, { status, newest }: Observed, sources: StatusSources): void {
  const running = status.state.running !== undefined;
  if (isInit(sources.pod, container) && !isSidecar(container)) {
    status.ready = status.state.terminated?.exitCode === 0;
    status.started = running;
    return;
  }
  status.started = running && (container.startupProbe === undefined || sources.startup(newest.id) === 'success');
  const answered = container.readinessProbe === undefined || sources.readiness(newest.id) === 'success';
  status.ready = status.started && answered && !sources.terminal;
}

/** The beginning of a text, without a character that would be cut. */
function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
