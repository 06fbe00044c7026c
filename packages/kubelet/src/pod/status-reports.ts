import { eventSubject, formatTime, type Pod, type PodStatus } from '@podwright/kube-api';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { PodVerdict } from '../kubecontainer/sync-result.ts';
import { generatePodStatus, isRefused, refusedPodStatus, withNewSandbox } from '../status/generate-pod-status.ts';
import { goodAnswers } from '../status/probe-answers.ts';
import { withDevices } from './pod-grants.ts';
import type { PodSyncerDependencies } from './pod-syncer-dependencies.ts';

type Reporting = Pick<
  PodSyncerDependencies,
  'runtime' | 'statuses' | 'reasons' | 'probes' | 'allocations' | 'grants' | 'refusal' | 'recursiveReadOnly'
>;

/** A published pod status. `ended`: all of the pod's containers have finished and will not be started again. */
export type ReportedStatus = { status: PodStatus; ended: boolean };

/** Computes and publishes the statuses of pods. */
export class StatusReports {
  readonly #deps: Reporting;

  constructor(deps: Reporting) {
    this.#deps = deps;
  }

  /** Computes the pod status from the pod's state in the container runtime, and publishes it. */
  report(pod: Pod, runtime: RuntimePodStatus, how: { verdict?: PodVerdict; terminal?: boolean }): ReportedStatus {
    const { statuses, reasons, probes, allocations, grants, recursiveReadOnly } = this.#deps;
    const { actuated, hostIps } = this.#deps.runtime;
    const { uid } = pod.metadata;
    const previous = statuses.lastKnown(pod);
    const { status, ended } = isRefused(previous)
      ? { status: previous, ended: true }
      : generatePodStatus({
          pod: allocations.current(pod),
          resize: allocations.conditions(uid),
          actuated: (container) => actuated.of(uid, container),
          runtime,
          previous,
          waitingReason: (name) => reasons.get(uid, name),
          readiness: (id) => probes.readiness.get(id),
          startup: (id) => probes.startup.get(id),
          recursiveReadOnly: recursiveReadOnly(pod),
          verdict: how.verdict,
          terminal: how.terminal === true,
          hostIps: hostIps(),
          nowMs: Date.now(),
        });
    const shown = withDevices(status, (name) => grants.healthOf(pod, name));
    statuses.set(allocations.desired(pod), shown);
    return { status: shown, ended };
  }

  /** If the pod was rejected, publishes the rejection and emits an event. Returns whether the pod was rejected. */
  reportRefusal(pod: Pod): boolean {
    const { statuses, refusal, runtime } = this.#deps;
    const why = refusal(pod.metadata.uid);
    if (why === undefined) return false;
    runtime.events.event(eventSubject(pod), 'Warning', why.reason, why.message);
    statuses.set(pod, refusedPodStatus(pod, why, Date.now()));
    return true;
  }

  /** Publishes the addresses of a new sandbox before the pod's images have been pulled. */
  reportSandbox(pod: Pod, ips: string[]): void {
    const now = formatTime(Date.now());
    this.#deps.statuses.change(pod.metadata.uid, (shown, status) => withNewSandbox(shown, status, { ips, now }));
  }

  /** Adopts the probe results of an earlier kubelet process. They apply until the probes of this process have produced results. */
  keepProbeAnswers(pod: Pod): void {
    const { statuses, probes } = this.#deps;
    const { uid } = pod.metadata;
    if (statuses.get(uid) !== undefined) return;
    for (const { kind, containerName, containerId } of goodAnswers(pod, statuses.lastKnown(pod)))
      probes[kind].set({ kind, podUid: uid, containerName, containerId, result: 'success' });
  }
}
