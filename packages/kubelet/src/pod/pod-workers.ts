/**
 * One serial worker per pod UID. Updates that arrive while a worker is busy are coalesced: the latest wins.
 *
 *   waiting ──▶ syncing ──▶ terminating ──▶ finishing ──▶ terminated ──▶ (removed)
 *      └──────────────────────────────▲────────────▲
 *
 * waiting: another pod of the same name must be removed first. syncing: the pod is kept in line with its spec.
 * terminating: its containers are being stopped. finishing: nothing runs; volumes and cgroup are being released.
 * terminated: it holds no resources; the final status stays until the pod leaves its source. Phases never go back, and a
 * step is repeated until it succeeds.
 */
import { Backoff, background, errorMessage, type Logger, Timer } from '@podwright/base';
import { isStaticPod, namespacedName, type Pod } from '@podwright/kube-api';
import type { PodVerdict } from '../kubecontainer/sync-result.ts';
import { deletionMarks, isShorter, marked } from './deletion.ts';

/** How to stop a pod. */
export type PodEnd = {
  /** Grace period in seconds. Overrides the pod's own and, if it is shorter, those of earlier requests. 0 kills immediately. */
  gracePeriodSeconds?: number;
  /** Failure reason and message, if this request makes the pod fail. */
  verdict?: PodVerdict;
  /** Whether to also remove all of the pod's containers, files and records, because the pod has been removed from its source. */
  remove: boolean;
  /** If `remove` is set: whether to keep the log files, because the pod will be listed again after a kubelet restart. */
  keepLogs?: boolean;
  /** Set if the request does not come from the pod's source, so that it does not cancel a pending recreation requested by the source. */
  keepsRecreation?: boolean;
};

/**
 * Outcome of a pod sync. `ended`: whether all of the pod's containers have finished and will not be restarted. `retryAtMs`: when to sync
 * the pod again (Unix milliseconds).
 */
export type SyncOutcome = { ended: boolean; verdict?: PodVerdict; retryAtMs?: number; failed?: boolean };

/** The steps in a pod's lifecycle. Calls for the same pod never overlap; each may be repeated. */
export interface PodSteps {
  sync(pod: Pod, signal: AbortSignal): Promise<SyncOutcome>;
  /** Stops the pod's containers. Resolves once no container is running. */
  terminate(pod: Pod, end: PodEnd, signal: AbortSignal): Promise<void>;
  /** Releases the pod's volumes and cgroup; its final status is retained. */
  finish(pod: Pod, end: PodEnd): Promise<void>;
  /** Removes all of the pod's containers, files and records, except its log files if the removal request says to keep them. */
  remove(pod: Pod, end: PodEnd): Promise<void>;
}

export type PodWorkersOptions = {
  steps: PodSteps;
  logger: Logger;
  /** Resync interval: a pod is synced this often even if nothing has changed. */
  resyncPeriodMs: number;
  errorBackoff: { initialMs: number; maxMs: number };
  /** Called when a pod is recreated because its source added it again while it was being removed. */
  onRecreate?: () => void;
  /** Called once none of the pod's containers are running (`finishing`), and once the pod has released its resources (`terminated`). */
  onStopped?: (podUid: string, phase: 'finishing' | 'terminated') => void;
};

/** Phases of a pod's worker, in the order of the diagram at the top of this file. */
export type WorkerPhase = 'waiting' | 'syncing' | 'terminating' | 'finishing' | 'terminated' | 'removed';

/** When a worker runs its next step: immediately, at a given time (`performance.now`), or only when woken. A wake-up ends a wait early. */
type Next = { kind: 'again' } | { kind: 'wait'; untilMs: number } | { kind: 'sleep' };

const UNENDED: ReadonlySet<WorkerPhase> = new Set(['waiting', 'syncing', 'terminating']);

const AGAIN: Next = { kind: 'again' };
const SLEEP: Next = { kind: 'sleep' };

type Worker = {
  pod: Pod;
  phase: WorkerPhase;
  /** Whether the worker was woken during the step in progress. The step might have missed the change, so another one must follow. */
  pending: boolean;
  busy: boolean;
  end: PodEnd | undefined;
  /** The pod to recreate once this one has been removed, because its source has added it again. */
  recreate: Pod | undefined;
  abort: AbortController;
  timer: Timer | undefined;
  /** `notice` does not run a step before this time (monotonic milliseconds). */
  notBeforeMs: number;
  /** Resolves once none of the pod's containers are running. */
  stopped: PromiseWithResolvers<void>;
  removed: PromiseWithResolvers<void>;
};

/** Minimum delay between a failed step and the next step, unless `retry` is called. */
const MIN_RETRY_MS = 1000;

export class PodWorkers {
  readonly #options: PodWorkersOptions;
  readonly #workers = new Map<string, Worker>();
  readonly #backoff: Backoff;
  #stopped = false;
  #takesPods = true;

  constructor(options: PodWorkersOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.errorBackoff);
  }

  /** Stops accepting pods: `update` ignores unknown pods, and pods are no longer recreated after their removal. */
  refuseNewPods(): void {
    this.#takesPods = false;
  }

  /** Sets a pod's desired state. A new static pod waits until an older one with the same name has been removed. */
  update(pod: Pod): void {
    const worker = this.#workers.get(pod.metadata.uid);
    if (worker === undefined) {
      this.#add(pod);
    } else if (worker.end?.remove) {
      worker.recreate = pod;
    } else {
      worker.pod = { ...pod, metadata: { ...deletionMarks(worker.pod), ...pod.metadata } };
      this.#wake(worker);
    }
  }

  /** Syncs the pod immediately, because something it depends on has changed. */
  retry(podUid: string): void {
    const worker = this.#workers.get(podUid);
    if (worker !== undefined) this.#wake(worker);
  }

  /** Retries all pods immediately, including terminating ones, and resets their back-off. */
  retryAll(): void {
    for (const [uid, worker] of this.#workers) {
      this.#backoff.forget(uid);
      this.#wake(worker);
    }
  }

  /**
   * Syncs the pod because its containers have changed. After a failed step, which may itself have caused the change, the sync is slightly
   * delayed.
   */
  notice(podUid: string): void {
    const worker = this.#workers.get(podUid);
    if (worker === undefined) return;
    const waitMs = worker.notBeforeMs - performance.now();
    if (worker.busy || waitMs <= 0) return this.#wake(worker);
    worker.timer?.[Symbol.dispose]();
    worker.timer = new Timer(() => this.#wake(worker), waitMs);
  }

  /**
   * Stops the pod; resolves once it has been removed. A pod without a worker (orphaned in the container runtime) gets one just to stop it.
   */
  end(pod: Pod, end: PodEnd): Promise<void> {
    const worker = this.#workers.get(pod.metadata.uid) ?? this.#insert(pod, 'terminating');
    const shorter = isShorter(end, worker);
    worker.end = {
      gracePeriodSeconds: shorter ? end.gracePeriodSeconds : worker.end?.gracePeriodSeconds,
      verdict: worker.end?.verdict ?? end.verdict,
      remove: end.remove || worker.end?.remove === true,
      keepLogs: end.keepLogs === true || worker.end?.keepLogs === true,
    };
    if (end.remove && end.keepsRecreation !== true) worker.recreate = undefined;
    if (end.remove) worker.pod = marked(worker.pod, worker.end);
    else if (pod.metadata.deletionTimestamp !== undefined) worker.pod = pod;
    // Abort a sync in progress, which would start containers, or a termination with a longer grace period.
    if (worker.phase === 'syncing' || worker.phase === 'waiting' || (worker.phase === 'terminating' && shorter))
      worker.abort.abort(new Error('the pod ends'));
    this.#wake(worker);
    return worker.removed.promise;
  }

  has(podUid: string): boolean {
    return this.#workers.has(podUid);
  }

  /** Returns the pod with this UID, until it has been removed. */
  podOf(podUid: string): Pod | undefined {
    return this.#workers.get(podUid)?.pod;
  }

  phaseOf(podUid: string): WorkerPhase | undefined {
    return this.#workers.get(podUid)?.phase;
  }

  list(): { pod: Pod; phase: WorkerPhase }[] {
    return [...this.#workers.values()].map(({ pod, phase }) => ({ pod, phase }));
  }

  /** Returns the pods whose containers are running or may still be started. */
  activePods(): Pod[] {
    return [...this.#workers.values()]
      .filter(({ phase }) => phase === 'syncing' || phase === 'terminating')
      .map(({ pod }) => pod);
  }

  /** Returns the active pods, and the pods that are waiting for another one with the same name to be removed. */
  unendedPods(): Pod[] {
    return [...this.#workers.values()].flatMap(({ pod, phase }) => (UNENDED.has(phase) ? [pod] : []));
  }

  /** Whether the pod's containers are running or may still be started. False once the pod has stopped, unless it will be recreated. */
  mayRun(podUid: string): boolean {
    const worker = this.#workers.get(podUid);
    if (worker === undefined || worker.recreate !== undefined) return true;
    return UNENDED.has(worker.phase);
  }

  /** Resolves once none of the pod's containers are running. */
  whenStopped(podUid: string): Promise<void> {
    return this.#workers.get(podUid)?.stopped.promise ?? Promise.resolve();
  }

  /** Stops the workers. Resolves once no step is in progress. Containers keep running. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const worker of this.#workers.values()) {
      worker.timer?.[Symbol.dispose]();
      worker.abort.abort(new Error('the kubelet stops'));
    }
    const busy = [...this.#workers.values()].filter((worker) => worker.busy);
    await Promise.all(busy.map((worker) => this.#idle.get(worker)?.promise));
  }

  readonly #idle = new Map<Worker, PromiseWithResolvers<void>>();

  /**
   * Adds a worker. Only static pods wait for an older pod with the same name; for other pods, the API server itself ensures that names are
   * unique.
   */
  #add(pod: Pod): void {
    if (!this.#takesPods) return;
    const taken = isStaticPod(pod) ? this.#holderOf(namespacedName(pod)) : undefined;
    const worker = this.#insert(pod, taken === undefined ? 'syncing' : 'waiting');
    if (worker.phase === 'syncing') this.#wake(worker);
  }

  #insert(pod: Pod, phase: WorkerPhase): Worker {
    const worker: Worker = {
      pod,
      phase,
      pending: false,
      busy: false,
      end: undefined,
      recreate: undefined,
      abort: new AbortController(),
      timer: undefined,
      notBeforeMs: 0,
      stopped: Promise.withResolvers(),
      removed: Promise.withResolvers(),
    };
    this.#workers.set(pod.metadata.uid, worker);
    return worker;
  }

  /** Returns the worker of the static pod that currently holds this pod name. A pod that is waiting for the name does not hold it. */
  #holderOf(fullName: string): Worker | undefined {
    return [...this.#workers.values()].find(
      ({ pod, phase }) => phase !== 'waiting' && namespacedName(pod) === fullName && isStaticPod(pod),
    );
  }

  #wake(worker: Worker): void {
    worker.pending = true;
    worker.timer?.[Symbol.dispose]();
    if (worker.busy || this.#stopped) return;
    worker.busy = true;
    this.#idle.set(worker, Promise.withResolvers());
    background(this.#options.logger, 'the worker of a pod has failed', this.#run(worker));
  }

  async #run(worker: Worker): Promise<void> {
    let next = AGAIN;
    while ((worker.pending || next.kind === 'again') && !this.#stopped) {
      worker.pending = false;
      next = await this.#step(worker);
      const mustRest = worker.end === undefined && worker.notBeforeMs > performance.now();
      if (worker.pending && mustRest) {
        next = { kind: 'wait', untilMs: worker.notBeforeMs };
        break;
      }
    }
    // no `await` since the last check of `pending`, so no wake-up is lost
    worker.busy = false;
    this.#idle.get(worker)?.resolve();
    this.#idle.delete(worker);
    if (this.#stopped || next.kind !== 'wait') return;
    const delayMs = Math.max(0, next.untilMs - performance.now());
    worker.timer = new Timer(() => this.#wake(worker), delayMs);
  }

  /** Runs the next step. A failed step is retried with exponential back-off. */
  async #step(worker: Worker): Promise<Next> {
    const { uid } = worker.pod.metadata;
    if (worker.abort.signal.aborted) worker.abort = new AbortController();
    try {
      return await this.#advance(worker);
    } catch (error) {
      if (worker.abort.signal.aborted) return AGAIN;
      const delayMs = this.#backoff.next(uid);
      const fields = { pod: namespacedName(worker.pod), uid, phase: worker.phase, error: errorMessage(error), delayMs };
      this.#options.logger.warn(fields, 'could not sync the pod, retrying');
      return { kind: 'wait', untilMs: performance.now() + delayMs };
    }
  }

  async #advance(worker: Worker): Promise<Next> {
    const { steps } = this.#options;
    switch (worker.phase) {
      case 'waiting':
        if (worker.end === undefined) return SLEEP;
        worker.stopped.resolve();
        // a pod that is not removed must pass through `finishing`, which publishes its final status
        return this.#enterStopped(worker, worker.end.remove ? 'terminated' : 'finishing');
      case 'syncing':
        return worker.end === undefined ? this.#sync(worker) : enter(worker, 'terminating');
      case 'terminating':
        await steps.terminate(worker.pod, worker.end!, worker.abort.signal);
        worker.stopped.resolve();
        return this.#enterStopped(worker, 'finishing');
      case 'finishing':
        await steps.finish(worker.pod, worker.end!);
        return this.#enterStopped(worker, 'terminated');
      case 'terminated':
        if (worker.end?.remove !== true) return SLEEP;
        await steps.remove(worker.pod, worker.end);
        this.#removed(worker);
        return SLEEP;
      case 'removed':
        return SLEEP;
    }
  }

  #enterStopped(worker: Worker, phase: 'finishing' | 'terminated'): Next {
    const next = enter(worker, phase);
    this.#options.onStopped?.(worker.pod.metadata.uid, phase);
    return next;
  }

  async #sync(worker: Worker): Promise<Next> {
    const outcome = await this.#options.steps.sync(worker.pod, worker.abort.signal);
    if (outcome.ended) {
      worker.end = { verdict: outcome.verdict, remove: false, ...(worker.end as PodEnd | undefined) };
      return enter(worker, 'terminating');
    }
    const { uid } = worker.pod.metadata;
    const delaysMs = [this.#options.resyncPeriodMs];
    if (outcome.retryAtMs !== undefined) delaysMs.push(outcome.retryAtMs - Date.now());
    if (outcome.failed) delaysMs.push(this.#noteFailure(worker));
    else this.#backoff.forget(uid);
    return { kind: 'wait', untilMs: performance.now() + Math.max(1, Math.min(...delaysMs)) };
  }

  /** Records a failed sync, and returns the delay before the next attempt. */
  #noteFailure(worker: Worker): number {
    const delayMs = this.#backoff.next(worker.pod.metadata.uid);
    worker.notBeforeMs = performance.now() + Math.min(MIN_RETRY_MS, delayMs);
    return delayMs;
  }

  #removed(worker: Worker): void {
    worker.phase = 'removed';
    worker.stopped.resolve();
    this.#workers.delete(worker.pod.metadata.uid);
    this.#backoff.forget(worker.pod.metadata.uid);
    worker.removed.resolve();
    if (worker.recreate !== undefined && this.#takesPods) {
      this.#options.onRecreate?.();
      this.#add(worker.recreate);
    }
    this.#startWaiting(namespacedName(worker.pod));
  }

  /** Starts the static pod that is waiting for this pod name, unless a recreated pod holds the name. */
  #startWaiting(fullName: string): void {
    if (this.#holderOf(fullName) !== undefined) return;
    const next = [...this.#workers.values()].find(
      ({ pod, phase }) => phase === 'waiting' && namespacedName(pod) === fullName,
    );
    if (next === undefined) return;
    next.phase = 'syncing';
    this.#wake(next);
  }
}

function enter(worker: Worker, phase: WorkerPhase): Next {
  worker.phase = phase;
  return AGAIN;
}
