import {
  type ContainerStatus,
  everyContainer,
  formatTime,
  type Pod,
  type PodCondition,
  type PodStatus,
  qosClass,
} from '@podwright/kube-api';
import {
  type GivenResources,
  isStopped,
  podIps,
  type RuntimeContainer,
  type RuntimePodStatus,
} from '../kubecontainer/runtime-pod.ts';
import type { PodVerdict, WaitingReason } from '../kubecontainer/sync-result.ts';
import type { ProbeResult } from '../prober/probe-results.ts';
import { isRestartingAll, restartingCondition } from './all-containers-restarting.ts';
import { containerStatuses, type StatusSources } from './container-statuses.ts';
import { observed, podConditions, withCondition } from './pod-conditions.ts';
import { endedStatuses } from './pod-end.ts';
import { podPhase } from './pod-phase.ts';
import { podResourcesStatus } from './pod-resources-status.ts';

/** Maximum total length of a pod's termination messages (upstream's MaxPodTerminationMessageLogLength). */
const MAX_POD_MESSAGE_BYTES = 12 << 10;

export type PodStatusInput = {
  pod: Pod;
  runtime: RuntimePodStatus;
  previous: PodStatus | undefined;
  /** Returns why the container with this name could not be started. */
  waitingReason: (containerName: string) => WaitingReason | undefined;
  readiness: (containerId: string) => ProbeResult | undefined;
  startup: (containerId: string) => ProbeResult | undefined;
  /** The reason why the kubelet is terminating the pod (`DeadlineExceeded`, for example). */
  verdict?: PodVerdict;
  /** The conditions of a pending or in-progress resize. */
  resize?: Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>[];
  /** Returns the CPU and memory settings actually in effect for a running container. */
  actuated?: (container: RuntimeContainer) => GivenResources | undefined;
  /** Whether the pod's container runtime supports recursive read-only mounts. */
  recursiveReadOnly: boolean;
  /** True if no more containers of the pod will be started. */
  terminal: boolean;
  hostIps: string[];
  nowMs: number;
};

/**
 * Computes the pod's API status. `ended`: none of the pod's containers will run again; the pod's terminal phase (Succeeded or Failed) no
 * longer changes, but is reported only once none of the containers are running. A `terminal` pod is Succeeded or Failed, and all of its
 * containers that might have run are reported as terminated.
 */
export function generatePodStatus(input: PodStatusInput): { status: PodStatus; ended: boolean } {
  const { pod, previous, runtime, terminal } = input;
  const sources = statusSources(input);
  const init = containerStatuses(pod.spec.initContainers ?? [], sources);
  const main = containerStatuses(pod.spec.containers, sources);
  const ephemeral = containerStatuses(pod.spec.ephemeralContainers ?? [], sources);
  const final = decidePhase(input, init, main);
  const ended = final === 'Succeeded' || final === 'Failed';
  const phase = ended && !isStopped(runtime) ? (previous?.phase === 'Pending' ? 'Pending' : 'Running') : final;
  const now = formatTime(input.nowMs);
  const ips = pod.spec.hostNetwork ? input.hostIps : podIps(runtime);
  const sandboxReady = runtime.sandboxes[0]?.ready === true && ips.length > 0;
  const before = markDisruption(input, now);
  const restarting = restartingCondition({ pod, phase, runtime, previous: before });
  const conditions = podConditions({
    pod,
    // pass the final phase of a pod with a verdict, because such a pod is not ready, even while its containers are still running
    phase: input.verdict === undefined ? phase : final,
    initStatuses: init,
    statuses: main,
    sandboxReady,
    passing: [...(restarting === undefined ? [] : [restarting]), ...(input.resize ?? [])],
    previous: before,
    now,
  });
  const shown = terminal ? endedStatuses(pod, { init, main }) : { init, main };
  const status: PodStatus = {
    ...observed(pod),
    phase: terminal && !ended ? 'Failed' : phase,
    conditions,
    ...(why(input.verdict) ?? why(previous) ?? why(pod.status)),
    ...addresses(ips, input),
    startTime: previous?.startTime ?? startTime(runtime) ?? now,
    ...(init.length > 0 ? { initContainerStatuses: shown.init } : {}),
    containerStatuses: byName(shown.main),
    ...(ephemeral.length > 0 ? { ephemeralContainerStatuses: byName(ephemeral).map(withoutStarted) } : {}),
    qosClass: qosClass(pod),
    ...podResourcesStatus(pod),
  };
  return { status, ended };
}

/** Sorts statuses by name, as upstream does; only init containers keep the order of the spec. */
function byName(statuses: ContainerStatus[]): ContainerStatus[] {
  return [...statuses].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Removes `started`, which ephemeral container statuses do not have, as in upstream. */
function withoutStarted({ started: _, ...status }: ContainerStatus): ContainerStatus {
  return status;
}

/** Returns the status of a rejected pod. Its containers never started and never will. */
export function refusedPodStatus(pod: Pod, refusal: WaitingReason, nowMs: number): PodStatus {
  return {
    ...observed(pod),
    phase: 'Failed',
    reason: refusal.reason,
    message: `Pod was rejected: ${refusal.message}`,
    startTime: formatTime(nowMs),
    qosClass: qosClass(pod),
  };
}

/** Whether this is the status of a rejected pod. */
export function isRefused(status: PodStatus | undefined): status is PodStatus {
  return status?.phase === 'Failed' && status.containerStatuses === undefined;
}

/** Returns the status after a sandbox with the given IPs has been created; other fields are unchanged. */
export function withNewSandbox(pod: Pod, status: PodStatus, { ips, now }: { ips: string[]; now: string }): PodStatus {
  const ready = { type: 'PodReadyToStartContainers', status: 'True' } as const;
  const conditions = withCondition(status.conditions ?? [], ready, { pod, now });
  return { ...status, conditions, ...(ips.length === 0 ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }) };
}

function markDisruption({ pod, previous, verdict }: PodStatusInput, now: string): PodCondition[] {
  const conditions = previous?.conditions ?? [];
  if (verdict?.disruption === undefined) return conditions;
  const { disruption: message } = verdict;
  const condition = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message } as const;
  return withCondition(conditions, condition, { pod, now });
}

function statusSources(input: PodStatusInput): StatusSources {
  const { previous } = input;
  const old: ContainerStatus[] = [
    ...(previous?.initContainerStatuses ?? []),
    ...(previous?.containerStatuses ?? []),
    ...(previous?.ephemeralContainerStatuses ?? []),
  ];
  return {
    ...input,
    restarting: isRestartingAll(input.pod, input.runtime, previous?.conditions ?? []),
    previous: new Map(old.map((status) => [status.name, status])),
    maxMessageBytes: Math.floor(MAX_POD_MESSAGE_BYTES / everyContainer(input.pod.spec).length),
  };
}

function decidePhase(input: PodStatusInput, initStatuses: ContainerStatus[], statuses: ContainerStatus[]) {
  for (const before of [input.pod.status?.phase, input.previous?.phase])
    if (before === 'Failed' || before === 'Succeeded') return before;
  if (input.verdict !== undefined) return 'Failed' as const;
  const { pod, runtime, terminal } = input;
  return podPhase({ pod, initStatuses, statuses, terminal, initialized: hasBegun(pod, runtime) });
}

/** Whether the current sandbox is ready and a main container has been created in it. */
function hasBegun({ spec }: Pod, { sandboxes, containers }: RuntimePodStatus): boolean {
  const id = sandboxes[0]?.ready ? sandboxes[0].id : undefined;
  return containers.some((one) => one.sandboxId === id && spec.containers.some(({ name }) => name === one.name));
}

function why(
  given: { reason?: string; message?: string } | undefined,
): Pick<PodStatus, 'reason' | 'message'> | undefined {
  return given?.reason === undefined ? undefined : { reason: given.reason, message: given.message };
}

/** Returns the pod's start time after a kubelet restart: that of its oldest sandbox. */
function startTime({ sandboxes }: RuntimePodStatus): string | undefined {
  const oldest = sandboxes.at(-1);
  return oldest === undefined ? undefined : formatTime(oldest.createdAtMs);
}

function addresses(ips: string[], { hostIps, previous }: PodStatusInput): Partial<PodStatus> {
  const host = hostIps.length === 0 ? {} : { hostIP: hostIps[0], hostIPs: hostIps.map((ip) => ({ ip })) };
  if (ips.length === 0) return { ...host, podIP: previous?.podIP, podIPs: previous?.podIPs };
  return { ...host, podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) };
}
