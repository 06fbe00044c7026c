import {
  type Container,
  type ContainerState,
  type ContainerStateTerminated,
  type ContainerStatus,
  formatTime,
  isSidecar,
  type Pod,
  restartsAfter,
  withPodLimits,
} from '@podwright/kube-api';
import type { GivenResources, RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';
import type { ProbeResult } from '../prober/probe-results.ts';
import { removedStatus } from './all-containers-restarting.ts';

/** Input for computing container statuses. */
export type StatusSources = {
  pod: Pod;
  runtime: RuntimePodStatus;
  /** The previous statuses by container name, for containers that have been removed from the container runtime. */
  previous: Map<string, ContainerStatus>;
  /** Returns why the container with this name could not be started. */
  waitingReason(containerName: string): WaitingReason | undefined;
  readiness(containerId: string): ProbeResult | undefined;
  startup(containerId: string): ProbeResult | undefined;
  /** Returns the CPU and memory settings actually in effect for a running container. */
  actuated?: (container: RuntimeContainer) => GivenResources | undefined;
  /** True if the pod is terminating, so no more containers will be started. */
  terminal: boolean;
  /** True if the pod is restarting all containers. Containers missing from the container runtime have then been removed for the restart. */
  restarting: boolean;
  /** Whether the container runtime supports recursive read-only mounts. */
  recursiveReadOnly: boolean;
  /** Maximum length of each termination message. */
  maxMessageBytes: number;
};

/** Returns the statuses of `containers`, in the same order. */
export function containerStatuses(containers: Container[], sources: StatusSources): ContainerStatus[] {
  return containers.map((container) => containerStatus(container, sources));
}

function containerStatus(container: Container, sources: StatusSources): ContainerStatus {
  const own = sources.runtime.containers.filter(({ name }) => name === container.name);
  const newest = own[0];
  const status =
    newest === undefined ? neverSeen(container, sources) : seen(container, { newest, before: own[1] }, sources);
  applyWaitingReason(container, status, sources);
  if (newest !== undefined && !isEphemeral(sources.pod, container)) applyProbes(container, { status, newest }, sources);
  return status;
}

/**
 * Returns the status of a container that does not exist in the container runtime, because it has not been created yet or has been removed.
 */
function neverSeen(
  container: Container,
  { pod, runtime, previous, terminal, restarting, recursiveReadOnly }: StatusSources,
): ContainerStatus {
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
    ...mounted(container, recursiveReadOnly),
  };
  const runsOnce = isInit(pod, container) && !isSidecar(container);
  if (restarting && old !== undefined && !isEphemeral(pod, container) && old.state.waiting === undefined)
    return removedStatus(old, blank);
  // the container exited and was garbage-collected: keep the terminated state last reported for it
  if (old?.state.terminated !== undefined)
    return { ...old, ready: runsOnce && old.state.terminated.exitCode === 0, started: false };
  if (runsOnce && pod.spec.containers.some(({ name }) => runtime.containers.some((one) => one.name === name)))
    return { ...blank, ready: true, state: { terminated: ASSUMED_DONE } };
  if (old === undefined) return blank;
  if (old.state.running === undefined) return { ...blank, lastState: old.lastState };
  if (terminal) return { ...blank, state: { terminated: lost(old) } };
  if (isEphemeral(pod, container)) return { ...blank, state: { terminated: lost(old, LOST_WHILE_RUNNING) } }; // ephemeral containers run only once
  const restarts = pod.metadata.deletionTimestamp === undefined ? 1 : 0;
  const lastState = { terminated: lost(old, LOST_WHILE_RUNNING) };
  return { ...blank, lastState, restartCount: blank.restartCount + restarts };
}

/** The assumed state of an init container that left no trace in the container runtime, in a pod whose main containers have been created. */
const ASSUMED_DONE: ContainerStateTerminated = {
  exitCode: 0,
  reason: 'Completed',
  message:
    'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
};

const LOST_AT_END = 'The container could not be located when the pod was terminated';
const LOST_WHILE_RUNNING =
  'The container could not be located when the pod was deleted.  The container used to be Running';

/** Returns the terminated state of a container whose exit was not observed; it counts as a failure. */
export function lost(old: ContainerStatus | undefined, message = LOST_AT_END): ContainerStateTerminated {
  const containerID = old?.containerID === undefined ? {} : { containerID: old.containerID };
  return { exitCode: 137, reason: 'ContainerStatusUnknown', message, ...containerID };
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
  { pod, previous, maxMessageBytes, actuated, recursiveReadOnly }: StatusSources,
): ContainerStatus {
  const old = previous.get(container.name);
  const state = containerState(pod, newest, { old, maxMessageBytes });
  const known = old?.containerID === newest.containerId ? old.lastState : old?.state;
  const lastState =
    before === undefined
      ? { terminated: known?.terminated ?? old?.lastState.terminated }
      : containerState(pod, before, { old: undefined, maxMessageBytes });
  return {
    name: container.name,
    state,
    lastState: lastState.terminated === undefined ? {} : { terminated: lastState.terminated },
    ready: false,
    started: false,
    // a lost container will be replaced, so it counts as restarted already
    restartCount: Math.max(newest.restartCount, (old?.restartCount ?? 0) + (isLost(newest, old) ? 1 : 0)),
    image: newest.image === '' ? container.image : newest.image,
    imageID: newest.imageId,
    containerID: newest.containerId,
    ...allocated(container, pod, { given: actuated?.(newest), isRunning: newest.state === 'running' }),
    ...(old?.volumeMounts !== undefined && old.containerID === newest.containerId
      ? { volumeMounts: old.volumeMounts }
      : mounted(container, recursiveReadOnly)),
    ...(newest.user === undefined ? {} : { user: { linux: newest.user } }),
    ...(newest.stopSignal === undefined ? {} : { stopSignal: newest.stopSignal }),
  };
}

/**
 * Returns the container's resources and allocated requests. If a running container has limits, missing ones are filled in from the
 * pod-level limits, as in upstream.
 */
function allocated(
  container: Container,
  { spec }: Pod,
  { given = container.resources ?? {}, isRunning }: { given?: GivenResources; isRunning: boolean },
): Pick<ContainerStatus, 'resources' | 'allocatedResources'> {
  const requests = container.resources?.requests;
  const hasPods = isRunning && given.limits !== undefined;
  const shown: GivenResources = (hasPods && withPodLimits({ ...container, resources: given }, spec).resources) || given;
  const { pod: _, ...own } = shown;
  return { resources: own, ...(requests === undefined ? {} : { allocatedResources: requests }) };
}

function mounted({ volumeMounts = [] }: Container, isSupported: boolean): Pick<ContainerStatus, 'volumeMounts'> {
  if (volumeMounts.length === 0) return {};
  return {
    volumeMounts: volumeMounts.map(({ name, mountPath, readOnly, recursiveReadOnly: wanted = 'Disabled' }) => {
      if (readOnly !== true) return { name, mountPath };
      const recursiveReadOnly = isSupported && wanted !== 'Disabled' ? 'Enabled' : 'Disabled';
      return { name, mountPath, readOnly, recursiveReadOnly };
    }),
  };
}

type Remembered = { old: ContainerStatus | undefined; maxMessageBytes: number };

function containerState(pod: Pod, container: RuntimeContainer, { old, maxMessageBytes }: Remembered): ContainerState {
  if (container.state === 'running') return { running: { startedAt: formatTime(container.startedAtMs) } };
  if (container.state === 'created') return { waiting: { reason: defaultWaitingReason(pod) } };
  if (container.state === 'unknown') return unknownState(pod, container, old);
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

/**
 * Returns the state to report for a container in the unknown state. A container that ran before is reported as terminated, so that the pod
 * does not look as if it had never started.
 */
function unknownState(pod: Pod, container: RuntimeContainer, old: ContainerStatus | undefined): ContainerState {
  const same = old?.containerID === container.containerId ? old.state : {};
  if (isLost(container, old)) return { terminated: lost(old) };
  return same.terminated === undefined ? { waiting: { reason: defaultWaitingReason(pod) } } : same;
}

/** Whether a container in the unknown state was last reported as running, so that it might have exited unobserved. */
function isLost({ state, containerId }: RuntimeContainer, old: ContainerStatus | undefined): boolean {
  return state === 'unknown' && old?.containerID === containerId && old.state.running !== undefined;
}

/** Shows a container as waiting if it will be restarted but could not be started; its terminated state moves to `lastState`. */
function applyWaitingReason(container: Container, status: ContainerStatus, sources: StatusSources): void {
  if (sources.terminal || status.state.running !== undefined) return;
  const reason = sources.waitingReason(container.name);
  const end = status.state.terminated;
  if (reason === undefined || (end !== undefined && !restartsAfter(sources.pod, container, end.exitCode))) return;
  if (end !== undefined) status.lastState = { terminated: end };
  status.state = { waiting: { reason: reason.reason, message: reason.message } };
  status.ready = false;
}

type Observed = { status: ContainerStatus; newest: RuntimeContainer };

function applyProbes(container: Container, { status, newest }: Observed, sources: StatusSources): void {
  const { started, ready } = probed(sources.pod, status, { container, id: newest.id, probes: sources });
  status.started = started;
  status.ready = ready;
}

/** Probe results of containers, by the container runtime's container ID. */
export type ProbeAnswers = Pick<StatusSources, 'readiness' | 'startup'>;

/** Returns whether the container has started and whether it is ready. An init container is ready once it has succeeded. */
export function probed(
  pod: Pod,
  { state }: ContainerStatus,
  { container, id, probes }: { container: Container; id: string; probes: ProbeAnswers },
): { started: boolean; ready: boolean } {
  const running = state.running !== undefined;
  if (isInit(pod, container) && !isSidecar(container))
    return { started: running, ready: state.terminated?.exitCode === 0 };
  const started = running && (container.startupProbe === undefined || probes.startup(id) === 'success');
  const answered = container.readinessProbe === undefined || probes.readiness(id) === 'success';
  return { started, ready: started && answered };
}

/** Truncates a string to a number of bytes without splitting a character. */
function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
