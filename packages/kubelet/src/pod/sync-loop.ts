/**
 * Where everything that can happen meets: changes of the desired pods, what the runtime says, results of probes, changed
 * objects, and the passage of time. It only notifies the pod workers; they do the work.
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

/** Of a pod that gives way to one that is more important (pkg/kubelet/preemption). */
const PREEMPTED: PodVerdict = {
  reason: 'Preempting',
  message: 'Preempted in order to admit critical pod',
  disruption: 'Pod was preempted by Kubelet to accommodate a critical pod.',
};

/** Hears of what happens to pods, for metrics and traces. */
export type PodObserver = {
  /** A pod entered the kubelet. */
  seen(pod: Pod): void;
  /** A source has changed a pod. */
  changed(before: Pod, after: Pod): void;
  /** A pod may not run here, by the reason in its status. */
  refused(reason: string): void;
  /** A pod ends for one that is more important, and is short of this resource. */
  preempted(resource: string): void;
  /** The runtime has a pod that nobody knows. */
  orphaned(): void;
};

export type SyncLoopDependencies = {
  manager: PodManager;
  workers: PodWorkers;
  admission: PodAdmission;
  /** The pod with the amounts that it has, while those that it asks for wait for room. */
  allocated: (pod: Pod) => Pod;
  /** Whether it waits for room. */
  isWaiting: (podUid: string) => boolean;
  /** The node's object as the API server has it now; absent without one. */
  readNode?: () => Promise<Node>;
  statuses: StatusManager;
  /** What the probes say. */
  probes: ProbeAnswers;
  events: EventRecorder;
  /** Every pod that the runtime has, as last seen. */
  runtimePods: () => RuntimePodStatus[];
  /** Those of the last listing, also if they could not be read. */
  listedPods: () => PodIdentity[];
  /** What people added to pods. */
  ephemeral: EphemeralContainers;
  observer: PodObserver;
  logger: Logger;
};

type Addition = { source: PodSourceName; isRunning: boolean; refusal: Refusal | undefined };

export class SyncLoop {
  readonly #deps: SyncLoopDependencies;
  /** Pods about which is decided once the node has been read. */
  readonly #undecided = new Set<string>();

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

  /** Ends and removes a pod that its source still has; resolves when it is removed. One that is not decided about yet does not begin. */
  end(pod: Pod, how: Pick<PodEnd, 'gracePeriodSeconds' | 'keepLogs'> = {}): Promise<void> {
    this.#undecided.delete(pod.metadata.uid);
    return this.#deps.workers.end(pod, { ...how, remove: true });
  }

  #remove(pod: Pod): void {
    const { manager, admission, ephemeral } = this.#deps;
    manager.delete(pod.metadata.uid);
    admission.forget(pod.metadata.uid);
    ephemeral.forget(pod.metadata.uid);
    this.#settle(this.end(pod).then(() => this.#retryWaiting()));
  }

  /** What a pod had is free again. */
  #retryWaiting(): void {
    const { manager, workers, isWaiting } = this.#deps;
    for (const { metadata } of manager.list()) if (isWaiting(metadata.uid)) workers.retry(metadata.uid);
  }

  #update(pod: Pod, source: PodSourceName): void {
    const { manager, workers, observer } = this.#deps;
    const before = manager.get(pod.metadata.uid);
    if (before !== undefined) observer.changed(before.pod, pod);
    this.#take(pod, source);
    if (!this.#undecided.has(pod.metadata.uid)) workers.update(pod);
  }

  /** What others have said of the pod at the API server counts at once. */
  #take(pod: Pod, source: PodSourceName): void {
    this.#deps.manager.set(pod, source);
    if (source === 'api') this.#deps.statuses.adoptForeign(pod);
  }

  /** The API server wants the pod to end, sooner perhaps than it said before; it stays there until it has. */
  #delete(pod: Pod, source: PodSourceName): void {
    this.#undecided.delete(pod.metadata.uid);
    this.#take(pod, source);
    const { deletionGracePeriodSeconds: grace } = pod.metadata;
    const gracePeriodSeconds = grace === undefined ? undefined : Math.max(LEAST_GRACE_SECONDS, grace);
    this.#settle(this.#deps.workers.end(pod, { gracePeriodSeconds, remove: false }));
  }

  /** Only the status of the pod has changed: others may have ended it there. */
  #reconcile(pod: Pod, source: PodSourceName): void {
    const { workers, statuses } = this.#deps;
    this.#take(pod, source);
    if (this.#undecided.has(pod.metadata.uid)) return;
    if (isTerminal(pod.status?.phase) && !isTerminal(statuses.get(pod.metadata.uid)?.phase)) workers.update(pod);
  }

  /** It is decided here, once, whether the pod may run: neither of one that runs nor of one that has ended. */
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

  /** What was heard of the node may be older than what its pods were placed by: it is asked for once (predicate.go, generalFilter). */
  async #decideAgain({ metadata: { uid } }: Pod, readNode: () => Promise<Node>): Promise<void> {
    const { manager, admission, workers, logger } = this.#deps;
    admission.forget(uid);
    this.#undecided.add(uid);
    const node = await readNode().catch((error: unknown) => {
      logger.warn({ error: errorMessage(error) }, 'the node could not be read: what was heard of it counts');
      return undefined;
    });
    if (!this.#undecided.delete(uid)) return; // it ends
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

  /** The pods that were admitted and may have something running, with what they have. */
  #admitted(): Pod[] {
    const { manager, admission, workers, allocated } = this.#deps;
    const admitted = manager.list().filter(({ metadata: { uid } }) => admission.isAdmitted(uid) && workers.mayRun(uid));
    return admitted.map(allocated);
  }

  /** The pod begins when those that make room for it have stopped. */
  async #afterPreempting(preempt: Pod[], pod: Pod): Promise<void> {
    const { workers, manager, events, logger } = this.#deps;
    for (const other of preempt) {
      logger.info({ pod: namespacedName(other), for: namespacedName(pod) }, 'preempting a pod');
      events.event(eventSubject(other), 'Warning', PREEMPTED.reason, PREEMPTED.message);
      this.#settle(workers.end(other, { verdict: PREEMPTED, remove: false }));
    }
    await Promise.all(preempt.map(({ metadata }) => workers.whenStopped(metadata.uid)));
    if (manager.has(pod.metadata.uid)) workers.update(pod);
  }

  /**
   * Ends the pods that only the runtime knows. Called once every source has been read, and now and then afterwards. What one of the
   * files that are `wrong` wants is not known: the pods that were made from it go on, or from files of the directory in its place.
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
   * Ends what an earlier kubelet left running of another pod of that name and source, so that the new pod waits for it. A source that
   * has not been read yet may still want its own.
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

  /** Ends a pod as failed; it stays to be seen. */
  evict(pod: Pod, { verdict, gracePeriodSeconds }: { verdict: PodVerdict; gracePeriodSeconds: number }): void {
    this.#deps.logger.info({ pod: namespacedName(pod), reason: verdict.message }, 'evicting a pod');
    this.#settle(this.#deps.workers.end(pod, { verdict, gracePeriodSeconds, remove: false }));
  }

  /** Containers of the pod started or ended. */
  handleLifecycle(podUid: string): void {
    this.#deps.workers.notice(podUid);
  }

  handleProbe({ podUid, kind, containerName, result }: ProbeResultUpdate): void {
    this.#deps.logger.debug({ uid: podUid, kind, container: containerName, result }, 'probe result');
    if (kind !== 'liveness') this.#showProbes(podUid);
    this.#deps.workers.notice(podUid);
  }

  /** At once, as the pod's worker may be busy for long: with its end, or an image. */
  #showProbes(podUid: string): void {
    const { statuses, probes } = this.#deps;
    statuses.change(podUid, (pod, status) => withProbeAnswers(pod, status, { probes, now: formatTime(Date.now()) }));
  }

  /** Pods of the object's namespace may use it: what waited for it goes on, what has it gets the new content. */
  handleObject({ kind, namespace, users }: LocalObjectChange): void {
    for (const { metadata } of this.#deps.manager.list()) {
      const mayUse = users?.has(metadata.uid) ?? (kind === 'RuntimeClass' || metadata.namespace === namespace);
      if (mayUse) this.#deps.workers.retry(metadata.uid);
    }
  }

  /** Callers need not await the end of a pod; the worker logs its failures. */
  #settle(ended: Promise<void>): void {
    ended.catch((error: unknown) => this.#deps.logger.error({ error: errorMessage(error) }, 'ending a pod failed'));
  }
}

/** The file or URL that a pod of the runtime was made from. */
function ownFile({ sandboxes }: RuntimePodStatus): string {
  return sandboxes[0]?.owner.file ?? '';
}
