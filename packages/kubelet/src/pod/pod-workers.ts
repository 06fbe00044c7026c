/**
 * One serial worker a pod UID. Whatever a worker is told while it is busy is done in one go afterwards: the latest wins.
 *
 *   waiting ──▶ syncing ──▶ terminating ──▶ finishing ──▶ terminated ──▶ (removed)
 *      └──────────────────────────────▲────────────▲
 *
 * waiting: a pod of the same name is still there, and must be gone first. syncing: kept as its specification wants.
 * terminating: its containers are being stopped. finishing: nothing runs; volumes and cgroup are being given back.
 * terminated: it holds nothing; the final status stays until the pod leaves its source. A phase never goes back, and is
 * left only when its step has succeeded: until then the step is repeated.
 */
import { Backoff, errorMessage, type Logger, Timer } from '@podwright/base';
import { isStaticPod, namespacedName, type Pod } from '@podwright/kube-api';
import type { PodVerdict } from '../kubecontainer/sync-result.ts';
import { deletionMarks, isShorter, marked } from './deletion.ts';

/** How a pod is to end. */
export type PodEnd = {
  /** Wins over the pod's own, and over an earlier one that is longer; 0 kills at once. */
  gracePeriodSeconds?: number;
  /** Why, if the pod has failed by it. */
  verdict?: PodVerdict;
  /** The pod has left its source: afterwards nothing may be left of it. */
  remove: boolean;
  /** With `remove`: the log files stay, as the pod is listed again at the next start. */
  keepLogs?: boolean;
  /** This is not said by its source: a pod that came back to that meanwhile begins anew all the same. */
  mayComeBack?: boolean;
};

/** What one sync found: whether the pod has ended by itself, and when to look again (Unix milliseconds). */
export type SyncOutcome = { ended: boolean; verdict?: PodVerdict; retryAtMs?: number; failed?: boolean };

/** The work itself. Each call for a pod comes after the one before has settled; each may be repeated. */
export interface PodSteps {
  sync(pod: Pod, signal: AbortSignal): Promise<SyncOutcome>;
  /** Stops the containers; resolves once none runs. */
  terminate(pod: Pod, end: PodEnd, signal: AbortSignal): Promise<void>;
  /** Gives back what the pod held; its final status stays. */
  finish(pod: Pod, end: PodEnd): Promise<void>;
  /** Removes every trace of it, but for logs that `end` keeps. */
  remove(pod: Pod, end: PodEnd): Promise<void>;
}

export type PodWorkersOptions = {
  steps: PodSteps;
  logger: Logger;
  /** A pod is looked at after this long even if nothing happened. */
  resyncPeriodMs: number;
  /** Delays after steps that failed. */
  errorBackoff: { initialMs: number; maxMs: number };
  /** A pod that came back to its source while it was being removed begins anew. */
  onComeback?: () => void;
  /** Nothing of the pod runs any more (`finishing`), or it holds nothing any more (`terminated`). */
  onStopped?: (podUid: string, phase: 'finishing' | 'terminated') => void;
};

/** Where a pod is on its way; what follows what is drawn above. */
export type WorkerPhase = 'waiting' | 'syncing' | 'terminating' | 'finishing' | 'terminated' | 'removed';

/**
 * What a worker does after a step: the next one at once, one at a time (`performance.now`), or none until it is woken.
 * Being woken cuts a wait short.
 */
type Next = { kind: 'again' } | { kind: 'wait'; untilMs: number } | { kind: 'sleep' };

const UNENDED: ReadonlySet<WorkerPhase> = new Set(['waiting', 'syncing', 'terminating']);

const AGAIN: Next = { kind: 'again' };
const SLEEP: Next = { kind: 'sleep' };

type Worker = {
  pod: Pod;
  phase: WorkerPhase;
  /** Something is to be done that the running step may not have seen. */
  pending: boolean;
  busy: boolean;
  end: PodEnd | undefined;
  /** The pod came back to its source while it was being removed. */
  comeback: Pod | undefined;
  abort: AbortController;
  timer: Timer | undefined;
  /** Notices do not lead to another step before this (monotonic milliseconds). */
  notBeforeMs: number;
  /** Nothing of it runs any more. */
  stopped: PromiseWithResolvers<void>;
  gone: PromiseWithResolvers<void>;
};

/** Least time between a failed step and the next one, unless a retry is asked for. */
const MIN_RETRY_MS = 1000;

export class PodWorkers {
  readonly #options: PodWorkersOptions;
  readonly #workers = new Map<string, Worker>();
  readonly #backoff: Backoff;
  #stopped = false;

  constructor(options: PodWorkersOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.errorBackoff);
  }

  /** The pod should be as it says here. A new pod of a name that is taken waits for the old one to be gone. */
  update(pod: Pod): void {
    const worker = this.#workers.get(pod.metadata.uid);
    if (worker === undefined) {
      this.#add(pod);
    } else if (worker.end?.remove) {
      worker.comeback = pod;
    } else {
      worker.pod = { ...pod, metadata: { ...deletionMarks(worker.pod), ...pod.metadata } };
      this.#wake(worker);
    }
  }

  /** What the pod depends on has changed: try again at once. */
  retry(podUid: string): void {
    const worker = this.#workers.get(podUid);
    if (worker !== undefined) this.#wake(worker);
  }

  /** What held pods up is over: all are tried again at once, those that are ending as well, and later delays begin anew. */
  retryAll(): void {
    for (const [uid, worker] of this.#workers) {
      this.#backoff.forget(uid);
      this.#wake(worker);
    }
  }

  /** Something happened to the pod's containers. After a failed step this waits a little: the step itself may have been it. */
  notice(podUid: string): void {
    const worker = this.#workers.get(podUid);
    if (worker === undefined) return;
    const waitMs = worker.notBeforeMs - performance.now();
    if (worker.busy || waitMs <= 0) return this.#wake(worker);
    worker.timer?.[Symbol.dispose]();
    worker.timer = new Timer(() => this.#wake(worker), waitMs);
  }

  /** Ends the pod. A pod that is unknown so far (an orphan of the runtime) gets a worker that does nothing else. */
  end(pod: Pod, end: PodEnd): Promise<void> {
    const worker = this.#workers.get(pod.metadata.uid) ?? this.#insert(pod, 'terminating');
    const harder = isShorter(end, worker);
    worker.end = {
      gracePeriodSeconds: harder ? end.gracePeriodSeconds : worker.end?.gracePeriodSeconds,
      verdict: worker.end?.verdict ?? end.verdict,
      remove: end.remove || worker.end?.remove === true,
      keepLogs: end.remove ? end.keepLogs : worker.end?.keepLogs,
    };
    if (end.remove && end.mayComeBack !== true) worker.comeback = undefined;
    if (end.remove) worker.pod = marked(worker.pod, worker.end);
    else if (pod.metadata.deletionTimestamp !== undefined) worker.pod = pod;
    // A running sync would go on starting what must end; a slow stop gives way to a quicker one.
    if (worker.phase === 'syncing' || worker.phase === 'waiting' || (worker.phase === 'terminating' && harder))
      worker.abort.abort(new Error('the pod ends'));
    this.#wake(worker);
    return worker.gone.promise;
  }

  has(podUid: string): boolean {
    return this.#workers.has(podUid);
  }

  /** The pod that has the UID, until it is removed. */
  podOf(podUid: string): Pod | undefined {
    return this.#workers.get(podUid)?.pod;
  }

  phaseOf(podUid: string): WorkerPhase | undefined {
    return this.#workers.get(podUid)?.phase;
  }

  /** Every pod that has a worker, and where it is. */
  list(): { pod: Pod; phase: WorkerPhase }[] {
    return [...this.#workers.values()].map(({ pod, phase }) => ({ pod, phase }));
  }

  /** Pods that have something running or may get it. */
  activePods(): Pod[] {
    return [...this.#workers.values()]
      .filter(({ phase }) => phase === 'syncing' || phase === 'terminating')
      .map(({ pod }) => pod);
  }

  /** These, and those that wait for a namesake. */
  unendedPods(): Pod[] {
    return [...this.#workers.values()].flatMap(({ pod, phase }) => (UNENDED.has(phase) ? [pod] : []));
  }

  /** Whether something of the pod runs or may still begin: not once it has ended, unless it has come back to its source. */
  mayRun(podUid: string): boolean {
    const worker = this.#workers.get(podUid);
    if (worker === undefined || worker.comeback !== undefined) return true;
    return UNENDED.has(worker.phase);
  }

  /** Resolves when nothing of the pod runs any more. */
  whenStopped(podUid: string): Promise<void> {
    return this.#workers.get(podUid)?.stopped.promise ?? Promise.resolve();
  }

  /** Stops working; containers go on. Resolves when no step runs any more. */
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

  /** A new pod of an API server waits for none: what its namesake does about its end is shown there. */
  #add(pod: Pod): void {
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
      comeback: undefined,
      abort: new AbortController(),
      timer: undefined,
      notBeforeMs: 0,
      stopped: Promise.withResolvers(),
      gone: Promise.withResolvers(),
    };
    this.#workers.set(pod.metadata.uid, worker);
    return worker;
  }

  /** The worker that has the name now; waiting pods do not, nor those of an API server. */
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
    void this.#run(worker);
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
    // at the same moment as the last look at `pending`: what it is told from now on wakes it
    worker.busy = false;
    this.#idle.get(worker)?.resolve();
    this.#idle.delete(worker);
    if (this.#stopped || next.kind !== 'wait') return;
    const delayMs = Math.max(0, next.untilMs - performance.now());
    worker.timer = new Timer(() => this.#wake(worker), delayMs);
  }

  /** Does the next step; one that failed is repeated after a delay that grows. */
  async #step(worker: Worker): Promise<Next> {
    const { uid } = worker.pod.metadata;
    if (worker.abort.signal.aborted) worker.abort = new AbortController();
    try {
      return await this.#advance(worker);
    } catch (error) {
      if (worker.abort.signal.aborted) return AGAIN;
      const delayMs = this.#backoff.next(uid);
      const fields = { pod: namespacedName(worker.pod), uid, phase: worker.phase, error: errorMessage(error), delayMs };
      this.#options.logger.warn(fields, 'the pod could not be brought to its state; trying again');
      return { kind: 'wait', untilMs: performance.now() + delayMs };
    }
  }

  async #advance(worker: Worker): Promise<Next> {
    const { steps } = this.#options;
    switch (worker.phase) {
      case 'waiting':
        if (worker.end === undefined) return SLEEP;
        worker.stopped.resolve();
        // nobody else would tell how a pod that stays to be seen has ended
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

  /** Returns the delay before the next try. */
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
    worker.gone.resolve();
    if (worker.comeback !== undefined) this.#options.onComeback?.();
    if (worker.comeback !== undefined) this.#add(worker.comeback);
    this.#startWaiting(namespacedName(worker.pod));
  }

  /** The name is free, unless the pod that came back has it. */
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
