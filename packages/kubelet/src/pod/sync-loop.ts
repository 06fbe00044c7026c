/**
 * Dispatches all events of the kubelet: changes to the desired pods, container lifecycle events, probe results, and changed API objects. It
 * only notifies the pod workers, which do the actual work.
 */
import { dirname } from 'node:path';
import { errorMessage, type Logger } from '@podwright/base';
import {
  type EventRecorder,
  eventSubject,
  formatTime,
  type LocalObjectChange,
  type Node,
  namespacedName,
  type Pod,
  type PodSourceName,
  type PodUpdate,
} from '@podwright/kube-api';
import { LEAST_GRACE_SECONDS } from '../kubecontainer/grace-periods.ts';
import type { PodIdentity } from '../kubecontainer/pod-identity.ts';
import { emptyRuntimePod, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { PodVerdict } from '../kubecontainer/sync-result.ts';
import type { ProbeResultUpdate } from '../prober/probe-results.ts';
import type { ProbeAnswers } from '../status/container-statuses.ts';
import { isTerminal } from '../status/pod-phase.ts';
import { withProbeAnswers } from '../status/probe-answers.ts';
import type { StatusManager } from '../status/status-manager.ts';
import { type AdmissionDecision, admissionOrder, type PodAdmission } from './admission.ts';
import type { EphemeralContainers } from './ephemeral-containers.ts';
import { orphanPod } from './orphan-pod.ts';
import type { Refusal } from './pod-admission.ts';
import type { PodManager } from './pod-manager.ts';
import type { PodEnd, PodWorkers } from './pod-workers.ts';

/** Verdict recorded for a preempted pod (pkg/kubelet/preemption). */
const PREEMPTED: PodVerdict = {
  reason: 'Preempting',
  message: 'Preempted in order to admit critical pod',
  disruption: 'Pod was preempted by Kubelet to accommodate a critical pod.',
};

/** Notified about changes to pods; used for metrics and traces. */
export type PodObserver = {
  /** Called when a source has added a pod. */
  seen(pod: Pod): void;
  /** Called when a source has changed a pod. */
  changed(before: Pod, after: Pod): void;
  /** Called when a pod is rejected at admission; `reason` is the reason set in its status. */
  refused(reason: string): void;
  /** Called when a pod is preempted to free this resource for another pod. */
  preempted(resource: string): void;
  /** Called for a pod that exists in the container runtime but in no pod source. */
  orphaned(): void;
};

export type SyncLoopDependencies = {
  manager: PodManager;
  workers: PodWorkers;
  admission: PodAdmission;
  /** Returns the pod with its allocated resources, which may differ from the requested ones while a resize is deferred. */
  allocated: (pod: Pod) => Pod;
  /** Whether a resize of the pod is deferred because the node lacks resources. */
  isWaiting: (podUid: string) => boolean;
  /** Reads the Node object from the API server; unset if there is no API server. */
  readNode?: () => Promise<Node>;
  statuses: StatusManager;
  /** The latest probe results. */
  probes: ProbeAnswers;
  events: EventRecorder;
  /** Returns every pod in the container runtime, with the last status read. */
  runtimePods: () => RuntimePodStatus[];
  /** Returns the pods found by the last relist, including those whose status could not be read. */
  listedPods: () => PodIdentity[];
  /** Ephemeral containers that clients have added to pods. */
  ephemeral: EphemeralContainers;
  observer: PodObserver;
  logger: Logger;
};

type Addition = { source: PodSourceName; isRunning: boolean; refusal: Refusal | undefined };

export class SyncLoop {
  readonly #deps: SyncLoopDependencies;
  /** UIDs of pods that may not start yet: they are waiting for the Node object to be read, or for preempted pods to stop. */
  readonly #held = new Set<string>();

  constructor(deps: SyncLoopDependencies) {
    this.#deps = deps;
  }

  handlePods(update: PodUpdate): void {
    const { operation, source, pods } = update;
    const ran = new Set(this.#deps.runtimePods().map(({ pod }) => pod.uid));
    const wasHere = (pod: Pod) => ran.has(pod.metadata.uid) || this.#deps.statuses.lastKnown(pod) !== undefined;
    const complete = pods.map((pod) => this.#deps.ephemeral.complete(pod));
    for (const pod of operation === 'ADD' ? admissionOrder(complete, wasHere) : complete) {
      const { uid } = pod.metadata;
      this.#deps.logger.debug({ operation, source, pod: namespacedName(pod), uid }, 'pod update');
      if (operation === 'REMOVE') this.#remove(pod);
      else if (!this.#deps.manager.has(uid))
        this.#add(pod, { source, isRunning: ran.has(uid), refusal: update.refusals?.get(uid) });
      else if (operation === 'RECONCILE') this.#reconcile(pod, source);
      else if (pod.metadata.deletionTimestamp !== undefined && source === 'api') this.#delete(pod, source);
      else this.#update(pod, source);
    }
  }

  /** Terminates and removes a pod; resolves once it has been removed. A pod whose admission is still pending never starts. */
  end(pod: Pod, how: Pick<PodEnd, 'gracePeriodSeconds' | 'keepLogs'> = {}): Promise<void> {
    this.#held.delete(pod.metadata.uid);
    return this.#deps.workers.end(pod, { ...how, remove: true });
  }

  #remove(pod: Pod): void {
    const { manager, admission, ephemeral } = this.#deps;
    manager.delete(pod.metadata.uid);
    admission.forget(pod.metadata.uid);
    ephemeral.forget(pod.metadata.uid);
    this.#settle(this.end(pod).then(() => this.#retryWaiting()));
  }

  /** Retries deferred resizes once a pod has released its resources. */
  #retryWaiting(): void {
    const { manager, workers, isWaiting } = this.#deps;
    for (const { metadata } of manager.list()) if (isWaiting(metadata.uid)) workers.retry(metadata.uid);
  }

  #update(pod: Pod, source: PodSourceName): void {
    const { manager, workers, observer } = this.#deps;
    const before = manager.get(pod.metadata.uid);
    if (before !== undefined) observer.changed(before.pod, pod);
    this.#store(pod, source);
    if (!this.#held.has(pod.metadata.uid)) workers.update(pod);
  }

  /** Stores the pod. If it comes from the API server, also adopts the status fields that other API clients have set. */
  #store(pod: Pod, source: PodSourceName): void {
    this.#deps.manager.set(pod, source);
    if (source === 'api') this.#deps.statuses.adoptForeign(pod);
  }

  /**
   * Handles a pod that was deleted at the API server, or whose grace period was shortened there. The API server keeps its object until the
   * pod has terminated.
   */
  #delete(pod: Pod, source: PodSourceName): void {
    this.#held.delete(pod.metadata.uid);
    this.#store(pod, source);
    const { deletionGracePeriodSeconds: grace } = pod.metadata;
    const gracePeriodSeconds = grace === undefined ? undefined : Math.max(LEAST_GRACE_SECONDS, grace);
    this.#settle(this.#deps.workers.end(pod, { gracePeriodSeconds, remove: false }));
  }

  /** Handles an update that changed only the pod's status at the API server; another client may have set a terminal phase. */
  #reconcile(pod: Pod, source: PodSourceName): void {
    const { workers, statuses } = this.#deps;
    this.#store(pod, source);
    if (this.#held.has(pod.metadata.uid)) return;
    if (isTerminal(pod.status?.phase) && !isTerminal(statuses.get(pod.metadata.uid)?.phase)) workers.update(pod);
  }

  /** Decides, once per pod, whether a new pod may run. Pods that are already running or have terminated skip admission. */
  #add(pod: Pod, { source, isRunning, refusal }: Addition): void {
    const { manager, admission, workers, observer, readNode, statuses } = this.#deps;
    observer.seen(pod);
    if (source !== 'api') this.#endNamesakes(pod, source);
    manager.set(pod, source);
    statuses.introduce(pod);
    if (source === 'api' && pod.metadata.deletionTimestamp !== undefined) return this.#delete(pod, source);
    if (this.#hasEnded(pod)) return workers.update(pod);
    const decision = isRunning ? admission.admit(pod) : this.#decide(pod, refusal);
    if (readNode === undefined || decision.refusal?.reason !== 'NodeAffinity') return this.#begin(pod, decision);
    this.#settle(this.#decideAgain(pod, readNode));
  }

  /**
   * Reads the Node object and repeats the admission decision, because the cached Node may be older than the one the scheduler used
   * (predicate.go, generalFilter).
   */
  async #decideAgain({ metadata: { uid } }: Pod, readNode: () => Promise<Node>): Promise<void> {
    const { manager, admission, workers, logger } = this.#deps;
    admission.forget(uid);
    this.#held.add(uid);
    const node = await readNode().catch((error: unknown) => {
      logger.warn({ error: errorMessage(error) }, 'could not read the node, using the cached one');
      return undefined;
    });
    if (!this.#held.delete(uid)) return; // the pod was deleted in the meantime
    const { pod } = manager.get(uid)!;
    if (this.#hasEnded(pod)) return workers.update(pod);
    this.#begin(pod, admission.decide(pod, this.#admitted(), node));
  }

  #begin(pod: Pod, decision: AdmissionDecision): void {
    const { workers, observer } = this.#deps;
    if (decision.refusal !== undefined) observer.refused(decision.refusal.reason);
    if (decision.refusal !== undefined || decision.preempt.length === 0) return workers.update(pod);
    for (const _ of decision.preempt) observer.preempted(decision.shortOf);
    this.#settle(this.#afterPreempting(decision.preempt, pod));
  }

  #decide(pod: Pod, refusal: Refusal | undefined): AdmissionDecision {
    const { admission } = this.#deps;
    return refusal === undefined
      ? admission.decide(pod, this.#admitted())
      : admission.refuse(pod.metadata.uid, refusal);
  }

  #hasEnded(pod: Pod): boolean {
    return isTerminal(this.#deps.statuses.lastKnown(pod)?.phase) && !this.#deps.workers.has(pod.metadata.uid);
  }

  /** Returns the admitted pods that may still run, with their allocated resources. */
  #admitted(): Pod[] {
    const { manager, admission, workers, allocated } = this.#deps;
    const admitted = manager.list().filter(({ metadata: { uid } }) => admission.isAdmitted(uid) && workers.mayRun(uid));
    return admitted.map(allocated);
  }

  /** Starts the pod once the preempted ones have stopped. */
  async #afterPreempting(preempt: Pod[], pod: Pod): Promise<void> {
    const { workers, manager, events, logger } = this.#deps;
    this.#held.add(pod.metadata.uid);
    for (const other of preempt) {
      logger.info({ pod: namespacedName(other), for: namespacedName(pod) }, 'preempting a pod');
      events.event(eventSubject(other), 'Warning', PREEMPTED.reason, PREEMPTED.message);
      this.#settle(workers.end(other, { verdict: PREEMPTED, remove: false }));
    }
    await Promise.all(preempt.map(({ metadata }) => workers.whenStopped(metadata.uid)));
    if (this.#held.delete(pod.metadata.uid)) workers.update(manager.get(pod.metadata.uid)!.pod);
  }

  /**
   * Terminates pods that exist only in the container runtime. Called once every source has been read, and periodically afterwards. `wrong`:
   * paths of invalid manifests. Pods created from an invalid manifest, or from files in a directory that was replaced by an invalid
   * manifest, keep running.
   */
  endOrphans(wrong: ReadonlySet<string>): void {
    const { manager, workers, runtimePods } = this.#deps;
    for (const status of runtimePods()) {
      const { uid } = status.pod;
      const file = ownFile(status);
      if (manager.has(uid) || workers.has(uid) || wrong.has(file) || wrong.has(dirname(file))) continue;
      this.#endOrphan(status);
    }
  }

  /**
   * Terminates pods with the same name that an earlier kubelet left running, so the new pod waits for them. If the new pod comes from a
   * URL, pods from files are spared, and vice versa, because the other source may not have been read yet.
   */
  #endNamesakes({ metadata: { uid, namespace, name } }: Pod, source: PodSourceName): void {
    const { workers, runtimePods, listedPods } = this.#deps;
    for (const pod of listedPods()) {
      if (pod.uid === uid || pod.namespace !== namespace || pod.name !== name || workers.has(pod.uid)) continue;
      const status = runtimePods().find((one) => one.pod.uid === pod.uid) ?? emptyRuntimePod(pod);
      if (ownFile(status).includes('://') === (source === 'http')) this.#endOrphan(status);
    }
  }

  #endOrphan(status: RuntimePodStatus): void {
    const { uid, namespace, name } = status.pod;
    this.#deps.logger.info({ pod: `${namespace}/${name}`, uid }, 'ending a pod that no source has');
    this.#deps.observer.orphaned();
    this.#settle(this.#deps.workers.end(orphanPod(status), { remove: true }));
  }

  /** Terminates a pod and marks it as failed, retaining its status. */
  evict(pod: Pod, { verdict, gracePeriodSeconds }: { verdict: PodVerdict; gracePeriodSeconds: number }): void {
    this.#deps.logger.info({ pod: namespacedName(pod), reason: verdict.message }, 'evicting a pod');
    this.#settle(this.#deps.workers.end(pod, { verdict, gracePeriodSeconds, remove: false }));
  }

  /** Must be called when containers of the pod have started or exited; wakes the pod's worker. */
  handleLifecycle(podUid: string): void {
    this.#deps.workers.notice(podUid);
  }

  handleProbe({ podUid, kind, containerName, result }: ProbeResultUpdate): void {
    this.#deps.logger.debug({ uid: podUid, kind, container: containerName, result }, 'probe result');
    if (kind !== 'liveness') this.#showProbes(podUid);
    this.#deps.workers.notice(podUid);
  }

  /** Publishes probe results immediately, because the pod's worker may be busy terminating the pod or pulling an image. */
  #showProbes(podUid: string): void {
    const { statuses, probes } = this.#deps;
    statuses.change(podUid, (pod, status) => withProbeAnswers(pod, status, { probes, now: formatTime(Date.now()) }));
  }

  /**
   * Retries the pods that may use a changed ConfigMap, Secret or other object, so that waiting pods can proceed and volumes get the new
   * content.
   */
  handleObject({ kind, namespace, users }: LocalObjectChange): void {
    for (const { metadata } of this.#deps.manager.list()) {
      const mayUse = users?.has(metadata.uid) ?? (kind === 'RuntimeClass' || metadata.namespace === namespace);
      if (mayUse) this.#deps.workers.retry(metadata.uid);
    }
  }

  /** Logs an error if the pod could not be terminated. For terminations that no caller awaits. */
  #settle(ended: Promise<void>): void {
    ended.catch((error: unknown) => this.#deps.logger.error({ error: errorMessage(error) }, 'ending a pod failed'));
  }
}

/** Returns the file or URL that a pod in the container runtime was created from. */
function ownFile({ sandboxes }: RuntimePodStatus): string {
  return sandboxes[0]?.owner.file ?? '';
}
