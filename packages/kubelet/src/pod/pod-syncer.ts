/** What a pod worker does in each of its phases: decides with the pure rooms, acts through the runtime, reports the status. */
import { errorCode, type Logger, PodwrightError, shownError } from '@podwright/base';
import { asRpcError } from '@podwright/cri';
import {
  allContainers,
  eventSubject,
  formatTime,
  namespacedName,
  type Pod,
  type PodStatus,
  type ResourceRequirements,
} from '@podwright/kube-api';
import type { PodVolumes } from '@podwright/volumes';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import {
  isStopped,
  latestContainer,
  otherOwner,
  podAddresses,
  type RuntimePodStatus,
  runningContainers,
} from '../kubecontainer/runtime-pod.ts';
import {
  failedSteps,
  failureText,
  hasActed,
  type PodVerdict,
  type StepResult,
  type WaitingReason,
} from '../kubecontainer/sync-result.ts';
import { computePodActions } from '../kuberuntime/compute-pod-actions.ts';
import { type KillPodDependencies, killPod } from '../kuberuntime/kill-pod.ts';
import { describePodActions, isEmptyPlan, type PodActions, type PodActionsInput } from '../kuberuntime/pod-actions.ts';
import { type RemovePodDependencies, removePodFromRuntime } from '../kuberuntime/remove-pod.ts';
import { widestPod } from '../kuberuntime/resize-actions.ts';
import { type SyncPodDependencies, syncPod } from '../kuberuntime/sync-pod.ts';
import type { Pleg } from '../pleg/pleg.ts';
import type { PodProbes } from '../prober/pod-probes.ts';
import { isMarked } from '../status/all-containers-restarting.ts';
import { generatePodStatus, isRefused, refusedPodStatus, withNewSandbox } from '../status/generate-pod-status.ts';
import { goodAnswers } from '../status/probe-answers.ts';
import type { StatusManager } from '../status/status-manager.ts';
import { ActiveDeadlines } from './active-deadlines.ts';
import { warnOfForeignPorts } from './foreign-ports.ts';
import { holdPod, type Obstacles } from './hold-pod.ts';
import { orphanPod } from './orphan-pod.ts';
import type { PodAllocations } from './pod-allocations.ts';
import { grantPod, type PodGrants, preparePod, withDevices } from './pod-grants.ts';
import type { PodEnd, PodSteps, SyncOutcome } from './pod-workers.ts';
import type { RestartRequests } from './restart-requests.ts';
import type { WaitingReasons } from './waiting-reasons.ts';

/** How often a pod that asks for more than there is looks again. */
const RESIZE_RETRY_MS = 10_000;

/** Brings what a pod refers to into reach before its volumes and containers are made, for as long as it is here. */
export type PodNeeds = {
  /** May be repeated; rejects with the signal's reason alone. */
  ready(pod: Pod, signal: AbortSignal): Promise<void>;
  release(podUid: string): void;
};

export type PodSyncerDependencies = {
  runtime: SyncPodDependencies & KillPodDependencies & RemovePodDependencies;
  pleg: Pleg;
  statuses: StatusManager;
  reasons: WaitingReasons;
  volumes: PodVolumes;
  probes: PodProbes;
  restarts: RestartRequests;
  allocations: PodAllocations;
  cgroups: PodCgroups;
  obstacles: Obstacles;
  /** What pods have of an API server, where there is one. */
  needs?: PodNeeds;
  logger: Logger;
  /** Why the pod may not run here, if that was decided when it came. */
  refusal: (podUid: string) => WaitingReason | undefined;
  /** It may not run after all. */
  refuse: (podUid: string, refusal: WaitingReason) => void;
  grants: PodGrants;
  /** Whether the pod's runtime can make a mount read-only with all that is mounted in it. */
  recursiveReadOnly: (pod: Pod) => boolean;
  /** Hears how the steps of each sync ended that had any. */
  onActed?: (pod: Pod, steps: StepResult[]) => void;
};

export class PodSyncer implements PodSteps {
  readonly #deps: PodSyncerDependencies;
  /** When the last action on a pod ended, monotonic: older sights of it are out of date. */
  readonly #actedAtMs = new Map<string, number>();
  readonly #deadlines = new ActiveDeadlines();

  constructor(deps: PodSyncerDependencies) {
    this.#deps = deps;
  }

  async sync(desired: Pod, signal: AbortSignal): Promise<SyncOutcome> {
    const { probes, restarts, allocations, runtime } = this.#deps;
    const { uid } = desired.metadata;
    if (this.#isRefused(desired)) return { ended: true };
    const waits = await grantPod(desired, { ...this.#deps, events: runtime.events }, signal);
    if (waits !== undefined) return waits;
    if (this.#isRefused(desired)) return { ended: true };
    const status = await this.#statusOf(desired);
    const pod = allocations.allocate(desired, status);
    allocations.settle(pod, status);
    const other = otherOwner(status, podIdentity(pod));
    if (other !== undefined) return this.#endOther(orphanPod({ ...status, pod: other }), signal);
    this.#keepProbeAnswers(pod);
    const before = this.#report(pod, status, {});
    if (before.ended) return { ended: true };
    const verdict = this.#overdue(pod, before.status);
    if (verdict !== undefined) return { ended: true, verdict };
    probes.update(pod, status, podAddresses(runtime, pod, status));
    restarts.keepOnly(uid, runningContainers(status));
    const plan = computePodActions({
      pod,
      status,
      probes: this.#verdicts(),
      restartRequested: (id) => restarts.has(uid, id),
      hasEnded: (name) =>
        before.status.ephemeralContainerStatuses?.find((one) => one.name === name)?.state.terminated !== undefined,
      restartAllContainers: isMarked(before.status.conditions),
      actuated: (container) => runtime.actuated.of(container),
    });
    if (plan.killPod && !plan.createSandbox) return { ended: true };
    const obstacle = holdPod(pod, this.#deps.obstacles, runtime.events);
    if (obstacle !== undefined) return obstacle;
    const waitsFor = plan.createSandbox && (await preparePod(pod, { ...this.#deps, events: runtime.events }, signal));
    if (waitsFor) return waitsFor;
    if (plan.createSandbox) await warnOfForeignPorts(pod, runtime.events);
    return this.#carryOut(pod, { status, plan, shown: before.status }, signal);
  }

  async #carryOut(
    pod: Pod,
    { status, plan, shown }: { status: RuntimePodStatus; plan: PodActions; shown: PodStatus },
    signal: AbortSignal,
  ): Promise<SyncOutcome> {
    const { runtime, logger } = this.#deps;
    const { uid } = pod.metadata;
    // while a pod is resized, its cgroup holds what its containers had as well as what they get
    const widest = isResized(plan) ? widestPod(pod, (name) => this.#givenTo(status, name)) : pod;
    const makeReady = () => this.#makeReady(widest, signal);
    const { failed } = await (isEmptyPlan(plan)
      ? makeReady()
      : runtime.tracer.span(uid, 'cgroup and volumes', makeReady));
    if (isEmptyPlan(plan)) return { ended: false, ...this.#whenToRetry(pod, [], shown), failed };
    logger.debug({ pod: namespacedName(pod), uid, plan: describePodActions(plan) }, 'syncing the pod');
    const outcome = await this.#act(pod, { status, plan }, signal);
    return { ...outcome, failed: outcome.failed || failed };
  }

  #verdicts(): PodActionsInput['probes'] {
    const { liveness, startup } = this.#deps.probes;
    return { liveness: (id) => liveness.get(id), startup: (id) => startup.get(id) };
  }

  /** Of a pod that was refused only that is shown. */
  #isRefused(pod: Pod): boolean {
    const { statuses, refusal, runtime } = this.#deps;
    const why = refusal(pod.metadata.uid);
    if (why === undefined) return false;
    runtime.events.event(eventSubject(pod), 'Warning', why.reason, why.message);
    statuses.set(pod, refusedPodStatus(pod, why, Date.now()));
    return true;
  }

  /** What probes have said to the kubelet that was here before holds until they say something else. */
  #keepProbeAnswers(pod: Pod): void {
    const { statuses, probes } = this.#deps;
    const { uid } = pod.metadata;
    if (statuses.get(uid) !== undefined) return;
    for (const { kind, containerName, containerId } of goodAnswers(pod, statuses.lastKnown(pod)))
      probes[kind].set({ kind, podUid: uid, containerName, containerId, result: 'success' });
  }

  /** Ends a pod that had the UID before, with its volumes: nothing of it may pass to the pod that has the UID now. */
  async #endOther(other: Pod, signal: AbortSignal): Promise<SyncOutcome> {
    const end = { remove: true };
    this.#deps.logger.info(
      { pod: namespacedName(other), uid: other.metadata.uid },
      'ending a pod whose UID another pod has now',
    );
    await this.terminate(other, end, signal);
    await this.finish(other, end);
    await this.remove(other, end);
    return { ended: false, retryAtMs: Date.now() };
  }

  async #act(
    pod: Pod,
    request: Pick<Parameters<typeof syncPod>[1], 'status' | 'plan'>,
    signal: AbortSignal,
  ): Promise<SyncOutcome> {
    const { runtime, reasons } = this.#deps;
    const onSandboxReady = (ips: string[]) => this.#showSandbox(pod, ips);
    let steps: StepResult[];
    try {
      steps = await syncPod(runtime, { pod, ...request, onSandboxReady }, signal);
    } finally {
      this.#acted(pod);
    }
    reasons.record(pod.metadata.uid, steps);
    this.#deps.onActed?.(pod, steps);
    const after = hasActed(steps) ? await this.#look(pod) : request.status;
    const resize = steps.find(({ action }) => action === 'ResizePodInPlace');
    if (isResized(request.plan) && failedSteps(steps).length === 0) await this.#deps.cgroups.ensure(pod);
    this.#deps.allocations.settle(pod, after, resize?.error?.message);
    this.#deps.probes.update(pod, after, podAddresses(runtime, pod, after));
    const { status } = this.#report(pod, after, {});
    if (steps.some(({ action, error }) => action === 'RemoveContainer' && error === undefined))
      return { ended: false, retryAtMs: Date.now() }; // the pod begins anew
    return { ended: false, ...this.#whenToRetry(pod, steps, status) };
  }

  #givenTo(status: RuntimePodStatus, name: string): ResourceRequirements | undefined {
    const current = latestContainer(status, name);
    return current?.state === 'running' ? this.#deps.runtime.actuated.of(current) : undefined;
  }

  /** A pod that waits for room on the node looks for it now and then. */
  #whenToRetry(pod: Pod, steps: StepResult[], status: PodStatus): { retryAtMs?: number; failed?: boolean } {
    const deferred = this.#deps.allocations.isDeferred(pod.metadata.uid);
    const bounds = [this.#deadlines.leftMs(pod, status), deferred ? RESIZE_RETRY_MS : undefined];
    const known = bounds.filter((ms) => ms !== undefined).map((ms) => Date.now() + ms);
    if (steps.length === 0) return { retryAtMs: known.length === 0 ? undefined : Math.min(...known) };
    return whenToRetry(steps, known);
  }

  /** The pod's network is there: that is seen before its images are. */
  #showSandbox(pod: Pod, ips: string[]): void {
    const now = formatTime(Date.now());
    this.#deps.statuses.change(pod.metadata.uid, (shown, status) => withNewSandbox(shown, status, { ips, now }));
  }

  /**
   * Everything that must be there before the first container, and stay up to date: the cgroup and the volumes. `failed` if volumes
   * could not be brought up to date that had been mounted: the pod goes on with them as they are.
   */
  async #makeReady(pod: Pod, signal: AbortSignal): Promise<{ failed: boolean }> {
    const { cgroups, volumes, needs } = this.#deps;
    const mount = async () => {
      await needs?.ready(pod, signal);
      return volumes.mountForPod(pod, signal);
    };
    const [cgroup, mounts] = await Promise.allSettled([cgroups.ensure(pod), mount()]);
    signal.throwIfAborted();
    if (cgroup.status === 'rejected') {
      const why = `unable to ensure pod container exists: ${shownError(cgroup.reason)}`;
      this.#warn(pod, 'FailedCreatePodContainer', why);
      throw cgroup.reason;
    }
    if (mounts.status === 'rejected') throw mounts.reason;
    const { failures, complete } = mounts.value;
    for (const { reason, message } of failures) this.#warn(pod, reason, message);
    if (complete) return { failed: failures.length > 0 };
    throw new PodwrightError(
      'failed_precondition',
      `mount volumes of pod ${namespacedName(pod)}: ${failures.map(({ message }) => message).join('; ')}`,
    );
  }

  #warn(pod: Pod, reason: string, message: string): void {
    this.#deps.runtime.events.event(eventSubject(pod), 'Warning', reason, message);
  }

  /** Why a pod fails that has had its time. */
  #overdue(pod: Pod, status: PodStatus): WaitingReason | undefined {
    const leftMs = this.#deadlines.leftMs(pod, status);
    if (leftMs === undefined || leftMs > 0) return undefined;
    const message = 'Pod was active on the node longer than the specified deadline';
    this.#deps.runtime.events.event(eventSubject(pod), 'Normal', 'DeadlineExceeded', message);
    return { reason: 'DeadlineExceeded', message };
  }

  async terminate(pod: Pod, end: PodEnd, signal: AbortSignal): Promise<void> {
    const { runtime, probes } = this.#deps;
    probes.stopLiveness(pod.metadata.uid);
    const status = await this.#statusOf(pod);
    this.#report(pod, status, { verdict: end.verdict });
    try {
      const steps = await killPod(runtime, { pod, status, gracePeriodSeconds: end.gracePeriodSeconds }, signal);
      const why = failureText(steps);
      if (why !== '') this.#warn(pod, 'FailedKillPod', `error killing pod: ${why}`);
      if (why !== '') throw new PodwrightError('internal', `stop pod ${namespacedName(pod)}: ${why}`);
    } finally {
      this.#acted(pod);
    }
    const after = await this.#look(pod);
    if (!isStopped(after)) {
      const names = runningContainers(after).map(({ name }) => name);
      throw new PodwrightError('internal', `stop pod ${namespacedName(pod)}: still running: ${names.join(', ')}`);
    }
    await this.#deps.grants.unprepare(pod.metadata.uid, signal);
  }

  async finish(pod: Pod, end: PodEnd): Promise<void> {
    const { probes, volumes, cgroups, reasons, needs } = this.#deps;
    const { uid } = pod.metadata;
    const status = await this.#statusOf(pod);
    this.#report(pod, status, { verdict: end.verdict, terminal: true });
    probes.remove(uid);
    await volumes.unmountForPod(uid);
    needs?.release(uid);
    await cgroups.remove(uid);
    await this.#deps.grants.release(uid);
    reasons.forgetPod(uid);
  }

  async remove(pod: Pod, { keepLogs = false }: PodEnd): Promise<void> {
    const { runtime, volumes, cgroups, statuses, probes, restarts, allocations, needs } = this.#deps;
    const { uid } = pod.metadata;
    const status = await this.#look(pod);
    const release = async () => {
      probes.remove(uid);
      await volumes.removeForPod(uid);
      await cgroups.remove(uid);
    };
    await removePodFromRuntime(runtime, { pod, status, keepLogs, release });
    await this.#look(pod);
    runtime.images.forgetPod(uid);
    for (const container of allContainers(pod.spec)) runtime.crashBackoff.forget(pod, container);
    restarts.keepOnly(uid, []);
    allocations.forget(uid);
    needs?.release(uid);
    runtime.actuated.forget(status.containers.map(({ id }) => id));
    this.#actedAtMs.delete(uid);
    this.#deadlines.forget(uid);
    statuses.delete(uid);
  }

  /** The pod as it is, or was after our last action. A runtime that is away is told of elsewhere. */
  async #statusOf(pod: Pod): Promise<RuntimePodStatus> {
    try {
      return await this.#deps.pleg.getNewerThan(podIdentity(pod), this.#actedAtMs.get(pod.metadata.uid) ?? 0);
    } catch (error) {
      const why = shownError(asRpcError(error));
      if (errorCode(error) !== 'unavailable') this.#warn(pod, 'FailedSync', `error determining status: ${why}`);
      throw error;
    }
  }

  #acted(pod: Pod): void {
    this.#actedAtMs.set(pod.metadata.uid, performance.now());
  }

  /** After our own action the cache is brought up to date at once. */
  #look(pod: Pod): Promise<RuntimePodStatus> {
    return this.#deps.runtime.tracer.span(pod.metadata.uid, 'read status', () =>
      this.#deps.pleg.look(podIdentity(pod)),
    );
  }

  /** Works out the pod's status and publishes it; `ended` when its containers have all done what they will. */
  #report(
    pod: Pod,
    runtime: RuntimePodStatus,
    how: { verdict?: PodVerdict; terminal?: boolean },
  ): { status: PodStatus; ended: boolean } {
    const { statuses, reasons, probes, allocations } = this.#deps;
    const { uid } = pod.metadata;
    const previous = statuses.lastKnown(pod);
    const { status, ended } = isRefused(previous)
      ? { status: previous, ended: true }
      : generatePodStatus({
          pod: allocations.current(pod),
          resize: allocations.conditions(uid),
          actuated: (container) => this.#deps.runtime.actuated.of(container),
          runtime,
          previous,
          waitingReason: (name) => reasons.get(uid, name),
          readiness: (id) => probes.readiness.get(id),
          startup: (id) => probes.startup.get(id),
          recursiveReadOnly: this.#deps.recursiveReadOnly(pod),
          verdict: how.verdict,
          terminal: how.terminal === true,
          hostIps: this.#deps.runtime.hostIps(),
          nowMs: Date.now(),
        });
    const shown = withDevices(status, (name) => this.#deps.grants.healthOf(pod, name));
    statuses.set(allocations.desired(pod), shown);
    return { status: shown, ended };
  }
}

function isResized({ containersToUpdate, containersToKill }: PodActions): boolean {
  return containersToUpdate.length > 0 || containersToKill.some(({ reason }) => reason === 'resize');
}

/** The soonest known time at which something can go on; failures without one are left to the worker's backoff. */
function whenToRetry(steps: StepResult[], known: number[]): { retryAtMs?: number; failed: boolean } {
  const failures = failedSteps(steps);
  const times = [...known, ...failures.map(({ retryAtMs }) => retryAtMs).filter((time) => time !== undefined)];
  const failed = failures.some(({ retryAtMs }) => retryAtMs === undefined);
  return { retryAtMs: times.length === 0 ? undefined : Math.min(...times), failed };
}
