/** The gates of a pod sync: one function per decision, and the order in which they run. */
import { eventSubject, type Pod, type PodStatus } from '@podwright/kube-api';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import { otherOwner, podAddresses, type RuntimePodStatus, runningContainers } from '../kubecontainer/runtime-pod.ts';
import { computePodActions } from '../kuberuntime/compute-pod-actions.ts';
import type { PodActions } from '../kuberuntime/pod-actions.ts';
import { isMarked } from '../status/all-containers-restarting.ts';
import type { ActiveDeadlines } from './active-deadlines.ts';
import { warnOfForeignPorts } from './foreign-ports.ts';
import { holdPod } from './hold-pod.ts';
import { CLAIM_RETRY_MS } from './limits.ts';
import { orphanPod } from './orphan-pod.ts';
import type { PlanRunner } from './plan-runner.ts';
import { grantPod, preparePod } from './pod-grants.ts';
import type { PodStatusReader } from './pod-status-reader.ts';
import type { PodSyncerDependencies } from './pod-syncer-dependencies.ts';
import type { SyncOutcome } from './pod-workers.ts';
import type { StatusReports } from './status-reports.ts';

/** The context of one pod sync. The fields from `pod` on are empty until the gates fill them in. */
export type SyncContext = {
  readonly desired: Pod;
  readonly signal: AbortSignal;
  readonly deps: PodSyncerDependencies;
  readonly statusReader: Pick<PodStatusReader, 'statusOf'>;
  readonly reports: Pick<StatusReports, 'report' | 'reportRefusal' | 'keepProbeAnswers'>;
  readonly deadlines: Pick<ActiveDeadlines, 'leftMs'>;
  readonly runner: Pick<PlanRunner, 'carryOut'>;
  /** Stops a pod in the container runtime, and removes it. */
  readonly endPod: (pod: Pod, signal: AbortSignal) => Promise<void>;
  /** The pod with its allocated resources. */
  pod: Pod;
  /** The pod's state in the container runtime. */
  status: RuntimePodStatus;
  publishedStatus: PodStatus;
  plan: PodActions;
};

/**
 * Decides whether a sync continues: a result ends the sync, `undefined` passes it to the next gate. A gate with nothing to wait for returns
 * synchronously, so that no other code runs before the next gate.
 */
export type Gate = (context: SyncContext) => Promise<SyncOutcome | undefined> | SyncOutcome | undefined;

/** The sync gates, in order. The last one always ends the sync. */
export const SYNC_GATES: readonly Gate[] = [
  endIfRefused,
  waitForGrants,
  endIfRefused, // the grants may have been refused
  readStatus,
  endOtherOwner,
  reportStatus,
  endIfOverdue,
  planActions,
  waitForNode,
  waitForClaims,
  prepareClaims,
  warnOfPorts,
  carryOut,
];

/** Runs the gates until one of them ends the sync. */
export async function passGates(context: SyncContext, gates: readonly Gate[] = SYNC_GATES): Promise<SyncOutcome> {
  for (const gate of gates) {
    const passed = gate(context);
    const outcome = passed instanceof Promise ? await passed : passed;
    if (outcome !== undefined) return outcome;
  }
  return { ended: false };
}

/** Ends the sync of a rejected pod after reporting the rejection. */
export function endIfRefused({ desired, reports }: SyncContext): SyncOutcome | undefined {
  return reports.reportRefusal(desired) ? { ended: true } : undefined;
}

/** Allocates devices, CPUs and memory to the pod, or rejects the pod. A pod whose device plugin is missing must wait. */
export function waitForGrants({ desired, deps, signal }: SyncContext): Promise<SyncOutcome | undefined> {
  return grantPod(desired, { ...deps, events: deps.runtime.events }, signal);
}

/** Reads the pod's state from the container runtime, and allocates the pod's resources. */
export async function readStatus(context: SyncContext): Promise<undefined> {
  const { desired, deps, statusReader } = context;
  context.status = await statusReader.statusOf(desired);
  deps.runtime.actuated.observe(context.status);
  context.pod = deps.allocations.allocate(desired, context.status);
  deps.allocations.settle(context.pod, context.status);
}

/**
 * Stops and removes another pod that has the same UID, including its volumes, so that its data does not leak to the pod that now has the
 * UID.
 */
export async function endOtherOwner(context: SyncContext): Promise<SyncOutcome | undefined> {
  const { pod, status, endPod, signal } = context;
  const other = otherOwner(status, podIdentity(pod));
  if (other === undefined) return undefined;
  await endPod(orphanPod({ ...status, pod: other }), signal);
  return { ended: false, retryAtMs: Date.now() };
}

/** Publishes the pod status. Ends the sync only if the pod has finished, which means that all of its containers have. */
export function reportStatus(context: SyncContext): SyncOutcome | undefined {
  const { pod, status, reports } = context;
  reports.keepProbeAnswers(pod);
  const { status: publishedStatus, ended } = reports.report(pod, status, {});
  context.publishedStatus = publishedStatus;
  return ended ? { ended: true } : undefined;
}

/** Fails a pod that has been active for longer than `activeDeadlineSeconds`. */
export function endIfOverdue({ pod, publishedStatus, deadlines, deps }: SyncContext): SyncOutcome | undefined {
  const leftMs = deadlines.leftMs(pod, publishedStatus);
  if (leftMs === undefined || leftMs > 0) return undefined;
  const message = 'Pod was active on the node longer than the specified deadline';
  deps.runtime.events.event(eventSubject(pod), 'Normal', 'DeadlineExceeded', message);
  return { ended: true, verdict: { reason: 'DeadlineExceeded', message } };
}

/**
 * Plans the pod's next actions. Ends the sync only if the plan stops the sandbox without creating a new one, which means that the pod has
 * finished.
 */
export function planActions(context: SyncContext): SyncOutcome | undefined {
  const { pod, status, publishedStatus, deps } = context;
  const { probes, restarts, runtime } = deps;
  const { uid } = pod.metadata;
  probes.update(pod, status, podAddresses(runtime, pod, status));
  restarts.keepOnly(uid, runningContainers(status));
  context.plan = computePodActions({
    pod,
    status,
    probes: { liveness: (id) => probes.liveness.get(id), startup: (id) => probes.startup.get(id) },
    restartRequested: (id) => restarts.has(uid, id),
    hasEnded: (name) =>
      publishedStatus.ephemeralContainerStatuses?.find((one) => one.name === name)?.state.terminated !== undefined,
    restartAllContainers: isMarked(publishedStatus.conditions),
    actuated: (container) => runtime.actuated.of(uid, container),
  });
  return context.plan.killPod && !context.plan.createSandbox ? { ended: true } : undefined;
}

/** Delays a pod while the container runtime is down, or while the network it needs is not ready. */
export function waitForNode({ pod, deps }: SyncContext): SyncOutcome | undefined {
  return holdPod(pod, deps.obstacles, deps.runtime.events);
}

/** Delays the creation of a pod's sandbox while a PVC that the pod can write to exceeds its capacity. Emits `FailedMount`. */
export function waitForClaims({ pod, plan, deps, signal }: SyncContext): ReturnType<Gate> {
  const hasClaims = pod.spec.volumes?.some(
    ({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral,
  );
  if (!plan.createSandbox || !hasClaims || deps.claimRefusal === undefined) return undefined;
  return deps.claimRefusal(pod, signal).then((refusal) => {
    if (refusal === undefined) return undefined;
    deps.runtime.events.event(eventSubject(pod), 'Warning', 'FailedMount', refusal);
    return { ended: false, retryAtMs: Date.now() + CLAIM_RETRY_MS };
  });
}

/** Prepares the pod's ResourceClaims before its sandbox is created. */
export function prepareClaims({ pod, plan, deps, signal }: SyncContext): ReturnType<Gate> {
  if (!plan.createSandbox) return undefined;
  return preparePod(pod, { ...deps, events: deps.runtime.events }, signal);
}

/** Warns if processes outside the pod listen on its host ports. */
export function warnOfPorts({ pod, plan, deps }: SyncContext): ReturnType<Gate> {
  if (!plan.createSandbox) return undefined;
  return warnOfForeignPorts(pod, deps.runtime.events).then(() => undefined);
}

/** Prepares the pod's cgroup and volumes, then executes the plan. */
export function carryOut({ pod, status, plan, publishedStatus, runner, signal }: SyncContext): Promise<SyncOutcome> {
  return runner.carryOut(pod, { status, plan, publishedStatus }, signal);
}
