/** Implements the pod workers' steps for each phase: makes decisions, acts through the container runtime, and reports the status. */
import { PodwrightError } from '@podwright/base';
import { allContainers, eventSubject, namespacedName, type Pod } from '@podwright/kube-api';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import { emptyRuntimePod, isStopped, runningContainers } from '../kubecontainer/runtime-pod.ts';
import { failureText } from '../kubecontainer/sync-result.ts';
import { killPod } from '../kuberuntime/kill-pod.ts';
import { emptyPlan } from '../kuberuntime/pod-actions.ts';
import { removePodFromRuntime } from '../kuberuntime/remove-pod.ts';
import { ActiveDeadlines } from './active-deadlines.ts';
import { PlanRunner } from './plan-runner.ts';
import { PodStatusReader } from './pod-status-reader.ts';
import type { PodSyncerDependencies } from './pod-syncer-dependencies.ts';
import type { PodEnd, PodSteps, SyncOutcome } from './pod-workers.ts';
import { StatusReports } from './status-reports.ts';
import { passGates } from './sync-gates.ts';

export class PodSyncer implements PodSteps {
  readonly #deps: PodSyncerDependencies;
  readonly #deadlines = new ActiveDeadlines();
  readonly #statusReader: PodStatusReader;
  readonly #reports: StatusReports;
  readonly #runner: PlanRunner;

  constructor(deps: PodSyncerDependencies) {
    this.#deps = deps;
    this.#statusReader = new PodStatusReader(deps);
    this.#reports = new StatusReports(deps);
    this.#runner = new PlanRunner({
      deps,
      statusReader: this.#statusReader,
      reports: this.#reports,
      deadlines: this.#deadlines,
    });
  }

  /** Runs the gates in `SYNC_GATES`, in order. */
  sync(desired: Pod, signal: AbortSignal): Promise<SyncOutcome> {
    return passGates({
      ...{ desired, signal, deps: this.#deps, statusReader: this.#statusReader, reports: this.#reports },
      ...{ deadlines: this.#deadlines, runner: this.#runner },
      endPod: (pod, ends) => this.#endOther(pod, ends),
      pod: desired,
      status: emptyRuntimePod(podIdentity(desired)),
      publishedStatus: { phase: 'Pending' },
      plan: emptyPlan(),
    });
  }

  async #endOther(other: Pod, signal: AbortSignal): Promise<void> {
    const end = { remove: true };
    this.#deps.logger.info(
      { pod: namespacedName(other), uid: other.metadata.uid },
      'ending a pod whose UID another pod has now',
    );
    await this.terminate(other, end, signal);
    await this.finish(other, end);
    await this.remove(other, end);
  }

  async terminate(pod: Pod, end: PodEnd, signal: AbortSignal): Promise<void> {
    const { runtime, probes } = this.#deps;
    probes.stopLiveness(pod.metadata.uid);
    const status = await this.#statusReader.statusOf(pod);
    this.#reports.report(pod, status, { verdict: end.verdict });
    try {
      const steps = await killPod(runtime, { pod, status, gracePeriodSeconds: end.gracePeriodSeconds }, signal);
      const why = failureText(steps);
      if (why !== '') this.#warn(pod, 'FailedKillPod', `error killing pod: ${why}`);
      if (why !== '') throw new PodwrightError('internal', `stop pod ${namespacedName(pod)}: ${why}`);
    } finally {
      this.#statusReader.acted(pod);
    }
    const after = await this.#statusReader.readNow(pod);
    if (!isStopped(after)) {
      const names = runningContainers(after).map(({ name }) => name);
      throw new PodwrightError('internal', `stop pod ${namespacedName(pod)}: still running: ${names.join(', ')}`);
    }
    await this.#deps.grants.unprepare(pod.metadata.uid, signal);
  }

  async finish(pod: Pod, end: PodEnd): Promise<void> {
    const { probes, volumes, cgroups, reasons, needs } = this.#deps;
    const { uid } = pod.metadata;
    const status = await this.#statusReader.statusOf(pod);
    this.#reports.report(pod, status, { verdict: end.verdict, terminal: true });
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
    const status = await this.#statusReader.readNow(pod);
    const release = async () => {
      probes.remove(uid);
      await volumes.removeForPod(uid);
      await cgroups.remove(uid);
    };
    await removePodFromRuntime(runtime, { pod, status, keepLogs, release });
    await this.#statusReader.readNow(pod);
    runtime.images.forgetPod(uid);
    for (const container of allContainers(pod.spec)) runtime.crashBackoff.forget(pod, container);
    restarts.keepOnly(uid, []);
    allocations.forget(uid);
    needs?.release(uid);
    runtime.actuated.forget(uid);
    this.#statusReader.forget(uid);
    this.#deadlines.forget(uid);
    statuses.delete(uid);
  }

  #warn(pod: Pod, reason: string, message: string): void {
    this.#deps.runtime.events.event(eventSubject(pod), 'Warning', reason, message);
  }
}
