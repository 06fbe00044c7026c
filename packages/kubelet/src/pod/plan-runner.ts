import { PodwrightError, shownError } from '@podwright/base';
import { eventSubject, namespacedName, type Pod, type PodStatus, type ResourceRequirements } from '@podwright/kube-api';
import { latestContainer, podAddresses, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { failedSteps, hasActed, type StepResult } from '../kubecontainer/sync-result.ts';
import { describePodActions, isEmptyPlan, type PodActions } from '../kuberuntime/pod-actions.ts';
import { widestPod } from '../kuberuntime/resize-actions.ts';
import { syncPod } from '../kuberuntime/sync-pod.ts';
import type { ActiveDeadlines } from './active-deadlines.ts';
import type { PodStatusReader } from './pod-status-reader.ts';
import type { PodSyncerDependencies } from './pod-syncer-dependencies.ts';
import type { SyncOutcome } from './pod-workers.ts';
import type { StatusReports } from './status-reports.ts';

/** Resync interval for pods with a deferred resize. */
const RESIZE_RETRY_MS = 10_000;

type PlanRunnerParts = {
  deps: PodSyncerDependencies;
  statusReader: PodStatusReader;
  reports: StatusReports;
  deadlines: ActiveDeadlines;
};

/** The actions planned for a pod, and the statuses that the plan was computed from. */
export type PlannedSync = { status: RuntimePodStatus; plan: PodActions; publishedStatus: PodStatus };

/** Executes the plan of a pod sync: prepares the cgroup and the volumes, then performs the actions in the container runtime. */
export class PlanRunner {
  readonly #deps: PodSyncerDependencies;
  readonly #statusReader: PodStatusReader;
  readonly #reports: StatusReports;
  readonly #deadlines: ActiveDeadlines;

  constructor({ deps, statusReader, reports, deadlines }: PlanRunnerParts) {
    this.#deps = deps;
    this.#statusReader = statusReader;
    this.#reports = reports;
    this.#deadlines = deadlines;
  }

  async carryOut(pod: Pod, { status, plan, publishedStatus }: PlannedSync, signal: AbortSignal): Promise<SyncOutcome> {
    const { runtime, logger } = this.#deps;
    const { uid } = pod.metadata;
    // save the allocation before a resize; during the resize, the pod's cgroup must allow both the old and the new resources of its
    // containers
    if (isResized(plan)) await this.#deps.allocations.saved();
    const widest = isResized(plan) ? widestPod(pod, (name) => this.#actuatedOf(status, name)) : pod;
    const makeReady = () => this.#makeReady(widest, signal);
    const { failed } = await (isEmptyPlan(plan)
      ? makeReady()
      : runtime.tracer.span(uid, 'cgroup and volumes', makeReady));
    if (isEmptyPlan(plan)) return { ended: false, ...this.#whenToRetry(pod, [], publishedStatus), failed };
    logger.debug({ pod: namespacedName(pod), uid, plan: describePodActions(plan) }, 'syncing the pod');
    const outcome = await this.#act(pod, { status, plan }, signal);
    return { ...outcome, failed: outcome.failed || failed };
  }

  async #act(
    pod: Pod,
    request: Pick<Parameters<typeof syncPod>[1], 'status' | 'plan'>,
    signal: AbortSignal,
  ): Promise<SyncOutcome> {
    const { runtime, reasons, cgroups, allocations, probes, onActed } = this.#deps;
    const onSandboxReady = (ips: string[]) => this.#reports.reportSandbox(pod, ips);
    let steps: StepResult[];
    try {
      steps = await syncPod(runtime, { pod, ...request, onSandboxReady }, signal);
    } finally {
      this.#statusReader.acted(pod);
    }
    reasons.record(pod.metadata.uid, steps);
    onActed?.(pod, steps);
    const after = hasActed(steps) ? await this.#statusReader.readNow(pod) : request.status;
    const resize = steps.find(({ action }) => action === 'ResizePodInPlace');
    if (isResized(request.plan) && failedSteps(steps).length === 0) await cgroups.ensure(pod);
    allocations.settle(pod, after, resize?.error?.message);
    probes.update(pod, after, podAddresses(runtime, pod, after));
    const { status } = this.#reports.report(pod, after, {});
    if (steps.some(({ action, error }) => action === 'RemoveContainer' && error === undefined))
      return { ended: false, retryAtMs: Date.now() }; // the next sync recreates all containers of the pod
    return { ended: false, ...this.#whenToRetry(pod, steps, status) };
  }

  #actuatedOf(status: RuntimePodStatus, name: string): ResourceRequirements | undefined {
    const current = latestContainer(status, name);
    return current?.state === 'running' ? this.#deps.runtime.actuated.of(status.pod.uid, current) : undefined;
  }

  #whenToRetry(pod: Pod, steps: StepResult[], status: PodStatus): { retryAtMs?: number; failed?: boolean } {
    const isDeferred = this.#deps.allocations.isDeferred(pod.metadata.uid);
    const bounds = [this.#deadlines.leftMs(pod, status), isDeferred ? RESIZE_RETRY_MS : undefined];
    const known = bounds.filter((ms) => ms !== undefined).map((ms) => Date.now() + ms);
    if (steps.length === 0) return { retryAtMs: known.length === 0 ? undefined : Math.min(...known) };
    return whenToRetry(steps, known);
  }

  /**
   * Prepares the cgroup and the volumes, which must exist before the first container and are kept up to date. `failed`: volumes that are
   * already mounted could not be updated, so the pod continues with their old content.
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
}

function isResized({ containersToUpdate, containersToKill }: PodActions): boolean {
  return containersToUpdate.length > 0 || containersToKill.some(({ reason }) => reason === 'resize');
}

/**
 * Returns the earliest of the `known` times and the failed steps' retry times. `failed`: at least one step failed without a retry time, so
 * the worker's back-off applies.
 */
function whenToRetry(steps: StepResult[], known: number[]): { retryAtMs?: number; failed: boolean } {
  const failures = failedSteps(steps);
  const times = [...known, ...failures.map(({ retryAtMs }) => retryAtMs).filter((time) => time !== undefined)];
  const failed = failures.some(({ retryAtMs }) => retryAtMs === undefined);
  return { retryAtMs: times.length === 0 ? undefined : Math.min(...times), failed };
}
