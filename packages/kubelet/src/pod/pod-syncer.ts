/** What a pod worker does in each of its phases: decides with the pure rooms, acts through the runtime, reports the status. */
import { type Logger, PodwrightError, shownError } from '@podwright/base';
import { allContainers, type Pod, type PodStatus, podFullName, type ResourceRequirements } from '../api/types.ts';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import { existingPod } from '../config/pod-config.ts';
import { eventSubject } from '../events/event-recorder.ts';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import {
  isStopped,
  latestContainer,
  otherOwner,
  podAddresses,
  type RuntimePodStatus,
  runningContainers,
  withSandbox,
} from '../kubecontainer/runtime-pod.ts';
import { failedSteps, hasActed, type StepResult, type WaitingReason } from '../kubecontainer/sync-result.ts';
import { computePodActions } from '../kuberuntime/compute-pod-actions.ts';
import { type KillPodDependencies, killPod } from '../kuberuntime/kill-pod.ts';
import { describePodActions, isEmptyPlan, type PodActions } from '../kuberuntime/pod-actions.ts';
import { type RemovePodDependencies, removePodFromRuntime } from '../kuberuntime/remove-pod.ts';
import { widestPod } from '../kuberuntime/resize-actions.ts';
import { type SyncPodDependencies, type SyncPodRequest, syncPod } from '../kuberuntime/sync-pod.ts';
import { RESIZE_RETRY_MS } from '../limits.ts';
import type { Pleg } from '../pleg/pleg.ts';
import type { PodProbes } from '../prober/pod-probes.ts';
import { isMarked } from '../status/all-containers-restarting.ts';
import { generatePodStatus } from '../status/generate-pod-status.ts';
import type { StatusManager } from '../status/status-manager.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';
import { holdPod, type Obstacles } from './hold-pod.ts';
import { orphanPod } from './orphan-pod.ts';
import type { PodAllocations } from './pod-allocations.ts';
import type { PodEnd, PodSteps, SyncOutcome } from './pod-workers.ts';
import type { RestartRequests } from './restart-requests.ts';
import type { WaitingReasons } from './waiting-reasons.ts';

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
  logger: Logger;
  /** Why a pod that has not run yet may not run here. */
  refuse: (pod: Pod) => WaitingReason | undefined;
};

export class PodSyncer implements PodSteps {
  readonly #deps: PodSyncerDependencies;
  /** When the last action on a pod ended, monotonic: older sights of it are out of date. */
  readonly #actedAtMs = new Map<string, number>();

  constructor(deps: PodSyncerDependencies) {
    this.#deps = deps;
  }

  async sync(desired: Pod, signal: AbortSignal): Promise<SyncOutcome> {
    const { pleg } = this.#deps;
    const { uid } = desired.metadata;
    const status = await pleg.getNewerThan(podIdentity(desired), this.#actedAtMs.get(uid) ?? 0);
    const pod = this.#deps.allocations.allocate(desired, status);
    this.#deps.allocations.settle(pod, status);
    const other = otherOwner(status, podIdentity(pod));
    if (other !== undefined) return this.#endOther(orphanPod({ ...status, pod: other }), signal);
    const before = this.#report(pod, status, {});
    if (before.ended) return { ended: true };
    const verdict = this.#verdict(pod, status, before.status);
    if (verdict !== undefined) return { ended: true, verdict };
    this.#deps.probes.update(pod, status, podAddresses(this.#deps.runtime, pod, status));
    const probes = {
      liveness: (id: string) => this.#deps.probes.liveness.get(id),
      startup: (id: string) => this.#deps.probes.startup.get(id),
    };
    this.#deps.restarts.keepOnly(uid, runningContainers(status));
    const restartRequested = (id: string) => this.#deps.restarts.has(uid, id);
    const plan = computePodActions({
      pod,
      status,
      probes,
      restartRequested,
      restartAllContainers: isMarked(before.status.conditions),
      actuated: (container) => this.#deps.runtime.actuated.of(container),
    });
    if (plan.killPod && !plan.createSandbox) return { ended: true };
    const held = holdPod(pod, this.#deps.obstacles, this.#deps.runtime.events);
    if (held !== undefined) return held;
    // while a pod is resized, its cgroup holds what its containers had as well as what they get
    const widest = isResized(plan) ? widestPod(pod, (name) => this.#givenTo(status, name)) : pod;
    const makeReady = () => this.#makeReady(widest, signal);
    await (isEmptyPlan(plan) ? makeReady() : this.#deps.runtime.tracer.span(uid, 'cgroup and volumes', makeReady));
    if (isEmptyPlan(plan)) return { ended: false, ...this.#whenToRetry(pod, [], before.status) };
    this.#deps.logger.debug({ pod: podFullName(pod), uid, plan: describePodActions(plan) }, 'syncing the pod');
    return this.#act(pod, { status, plan }, signal);
  }

  /** Ends a pod that had the UID before, with its volumes: nothing of it may pass to the pod that has the UID now. */
  async #endOther(other: Pod, signal: AbortSignal): Promise<SyncOutcome> {
    const end = { remove: true };
    this.#deps.logger.info(
      { pod: podFullName(other), uid: other.metadata.uid },
      'ending a pod whose UID another pod has now',
    );
    await this.terminate(other, end, signal);
    await this.finish(other, end);
    await this.remove(other);
    return { ended: false, retryAtMs: Date.now() };
  }

  async #act(pod: Pod, request: Omit<Parameters<typeof syncPod>[1], 'pod'>, signal: AbortSignal): Promise<SyncOutcome> {
    const { runtime, reasons } = this.#deps;
    let steps: StepResult[];
    try {
      const onSandboxReady = (made: { id: string; podIps: string[] }) =>
        this.#report(pod, withNewSandbox(pod, request, made), {});
      steps = await syncPod(runtime, { pod, ...request, onSandboxReady }, signal);
    } finally {
      this.#acted(pod);
    }
    reasons.record(pod.metadata.uid, steps);
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
    const pending = this.#deps.allocations.isPending(pod.metadata.uid);
    const bounds = [deadlineMs(pod, status), pending ? Date.now() + RESIZE_RETRY_MS : undefined];
    const known = bounds.filter((time) => time !== undefined);
    if (steps.length === 0) return { retryAtMs: known.length === 0 ? undefined : Math.min(...known) };
    return whenToRetry(steps, known);
  }

  /** Everything that must be there before the first container, and stay up to date: the cgroup and the volumes. */
  async #makeReady(pod: Pod, signal: AbortSignal): Promise<void> {
    const { runtime, cgroups, volumes } = this.#deps;
    const failed = (reason: string, what: string) => (error: unknown) => {
      signal.throwIfAborted();
      runtime.events.event(eventSubject(pod), 'Warning', reason, `${what}${shownError(error)}`);
      throw error;
    };
    await Promise.all([
      cgroups.ensure(pod).catch(failed('FailedCreatePodContainer', 'unable to ensure pod container exists: ')),
      volumes.mountForPod(pod, signal).catch(failed('FailedMount', '')),
    ]);
  }

  /** Why a pod fails as a whole: it was refused before it began, or has had its time. */
  #verdict(pod: Pod, runtime: RuntimePodStatus, status: PodStatus): WaitingReason | undefined {
    const { events } = this.#deps.runtime;
    if (runtime.sandboxes.length === 0) {
      const refusal = this.#deps.refuse(pod);
      if (refusal !== undefined) {
        events.event(eventSubject(pod), 'Warning', refusal.reason, refusal.message);
        return refusal;
      }
    }
    const deadline = deadlineMs(pod, status);
    if (deadline === undefined || Date.now() < deadline) return undefined;
    const message = 'Pod was active on the node longer than the specified deadline';
    events.event(eventSubject(pod), 'Normal', 'DeadlineExceeded', message);
    return { reason: 'DeadlineExceeded', message };
  }

  async terminate(pod: Pod, end: PodEnd, signal: AbortSignal): Promise<void> {
    const { runtime, pleg, probes } = this.#deps;
    probes.stopLiveness(pod.metadata.uid);
    const status = await pleg.getNewerThan(podIdentity(pod), this.#actedAtMs.get(pod.metadata.uid) ?? 0);
    this.#report(pod, status, { verdict: end.verdict });
    try {
      const steps = await killPod(runtime, { pod, status, gracePeriodSeconds: end.gracePeriodSeconds }, signal);
      const failure = failedSteps(steps)[0]?.error;
      if (failure !== undefined)
        throw new PodwrightError('internal', `stop pod ${podFullName(pod)}: ${failure.message}`);
    } finally {
      this.#acted(pod);
    }
    const after = await this.#look(pod);
    if (!isStopped(after)) {
      const names = runningContainers(after).map(({ name }) => name);
      throw new PodwrightError('internal', `stop pod ${podFullName(pod)}: still running: ${names.join(', ')}`);
    }
  }

  async finish(pod: Pod, end: PodEnd): Promise<void> {
    const { probes, volumes, cgroups, pleg, reasons } = this.#deps;
    const { uid } = pod.metadata;
    const status = await pleg.getNewerThan(podIdentity(pod), this.#actedAtMs.get(uid) ?? 0);
    this.#report(pod, status, { verdict: end.verdict, terminal: true });
    probes.remove(uid);
    await volumes.unmountForPod(uid);
    await cgroups.remove(uid);
    reasons.forgetPod(uid);
  }

  async remove(pod: Pod): Promise<void> {
    const { runtime, volumes, cgroups, statuses, probes, restarts, allocations } = this.#deps;
    const { uid } = pod.metadata;
    const status = await this.#look(pod);
    const release = async () => {
      probes.remove(uid);
      await volumes.removeForPod(uid);
      await cgroups.remove(uid);
    };
    await removePodFromRuntime(runtime, { pod, status, release });
    await this.#look(pod);
    runtime.images.forgetPod(uid);
    for (const container of allContainers(pod.spec)) runtime.crashBackoff.forget(pod, container);
    restarts.keepOnly(uid, []);
    allocations.forget(uid);
    runtime.actuated.forget(status.containers.map(({ id }) => id));
    this.#actedAtMs.delete(uid);
    statuses.delete(uid);
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
    how: { verdict?: WaitingReason; terminal?: boolean },
  ): { status: PodStatus; ended: boolean } {
    const { statuses, reasons, probes, allocations } = this.#deps;
    const { uid } = pod.metadata;
    const { status, ended } = generatePodStatus({
      pod: allocations.current(pod),
      resize: allocations.conditions(uid),
      actuated: (container) => this.#deps.runtime.actuated.of(container),
      runtime,
      previous: statuses.get(uid),
      waitingReason: (name) => reasons.get(uid, name),
      readiness: (id) => probes.readiness.get(id),
      startup: (id) => probes.startup.get(id),
      verdict: how.verdict,
      terminal: how.terminal === true,
      hostIps: this.#deps.runtime.hostIps(),
      nowMs: Date.now(),
    });
    statuses.set(allocations.desired(pod), status);
    return { status, ended };
  }
}

function isResized({ containersToUpdate, containersToKill }: PodActions): boolean {
  return containersToUpdate.length > 0 || containersToKill.some(({ reason }) => reason === 'resize');
}

/** What is known of the pod once a sandbox was made, before the runtime is asked again. */
function withNewSandbox(
  pod: Pod,
  { status, plan }: Pick<SyncPodRequest, 'status' | 'plan'>,
  { id, podIps }: { id: string; podIps: string[] },
): RuntimePodStatus {
  const hostNetwork = pod.spec.hostNetwork === true;
  const made = { id, owner: existingPod(pod), ready: true, attempt: plan.attempt, createdAtMs: Date.now() };
  const ips = hostNetwork ? [] : podIps;
  return withSandbox(status, { id, sandbox: { ...made, hostNetwork, ips }, containers: [] });
}

/** When the pod's time is over, in Unix milliseconds. */
function deadlineMs(pod: Pod, status: PodStatus): number | undefined {
  const seconds = pod.spec.activeDeadlineSeconds;
  if (seconds === undefined || status.startTime === undefined) return undefined;
  return Date.parse(status.startTime) + seconds * 1000;
}

/** The soonest known time at which something can go on; failures without one are left to the worker's backoff. */
function whenToRetry(steps: StepResult[], known: number[]): { retryAtMs?: number; failed: boolean } {
  const failures = failedSteps(steps);
  const times = [...known, ...failures.map(({ retryAtMs }) => retryAtMs).filter((time) => time !== undefined)];
  const failed = failures.some(({ retryAtMs }) => retryAtMs === undefined);
  return { retryAtMs: times.length === 0 ? undefined : Math.min(...times), failed };
}
