import { isDeadlineExceeded, isNotFound, PodwrightError, raceAbort, sleep, withTimeout } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { isWorkload } from '@podwright/kube-view';
import type { ApplyResult } from '@podwright/node-api';
import type { NodeClient } from '../client/node-client.ts';
import { isLostConnection, isNoNode } from '../client/unix-http.ts';
import { STEADY_MS } from '../limits.ts';
import { exitCodeOf, isEnded, isOver, isProven, isSettled } from './pod-end.ts';
import { removalTimeoutMs } from './removal-timeout.ts';
import { RunWorkloads } from './run-workloads.ts';

/** Before a pod counts as ready, it must have been running for this fraction of the time it took to start, but at most for `STEADY_MS`. */
const SLOW_SHARE = 0.15;
const CLAIM = 'PersistentVolumeClaim';
const NODE_ENDED = 'the node ended while its pods were running';

/** Apply actions that leave a pod in place, rather than creating a new one. */
const KEEPS_POD: ReadonlySet<string> = new Set(['unchanged', 'resized', 'configured']);

export type AppliedObject = ApplyResult['objects'][number];

/**
 * The pods of one `podwright run` command, both applied and created by its workloads, with their latest states and the times at which they
 * became ready. Objects that existed before the command are also watched, but never removed.
 */
export class RunSession {
  readonly pods = new Map<string, Pod>();
  /** UIDs of the pods that existed before this command. */
  readonly old: ReadonlySet<string>;
  readonly workloads: RunWorkloads;
  /** Workload UIDs by the UIDs of the pods that they created. */
  readonly #owners = new Map<string, string>();
  /**
   * Workload UIDs by the UIDs of removed pods that had terminated. Still needed, because a Job is often removed along with its pods soon
   * after it has finished.
   */
  readonly #pastOwners = new Map<string, string>();
  readonly #client: NodeClient;
  readonly #objects: AppliedObject[];
  readonly #startedAtMs = Date.now();
  readonly #listeners = new Set<(pod: Pod) => void>();
  /** When each pod settled, by UID, in ms since the epoch. */
  readonly #settledAtMs = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  readonly #removed = new Set<string>();
  readonly #deletedByOthers = new Set<string>();
  #removing = false;
  #failure: unknown;

  constructor(client: NodeClient, applied: ApplyResult) {
    this.#client = client;
    this.#objects = applied.objects;
    this.workloads = new RunWorkloads(client, this.#objects);
    this.old = new Set(uidsOf(this.#objects.filter(({ action }) => KEEPS_POD.has(action))));
  }

  /** Time that each pod took to start, complete or fail for good, by UID. Omits pods that have done none of these. */
  get tookMs(): Map<string, number> {
    return new Map([...this.#settledAtMs].map(([uid, atMs]) => [uid, atMs - this.#startedAtMs]));
  }

  /** UIDs of the applied pods, and of the workloads' current pods. */
  get uids(): string[] {
    return [...uidsOf(this.#objects), ...this.#owners.keys()];
  }

  /** Number of objects in the applied manifests. */
  get objectCount(): number {
    return this.#objects.length;
  }

  /** Workloads whose pods are not all available. */
  get incomplete(): { object: AppliedObject; progress: string; failure?: string }[] {
    return this.workloads.objects
      .filter(({ uid }) => !this.#isWorkloadSettled(uid))
      .map((object) => ({ object, progress: 'its state is not known', ...this.workloads.stateOf(object.uid) }));
  }

  /** Objects that existed before this command and are therefore retained. */
  get existing(): AppliedObject[] {
    return this.#objects.filter(({ action }) => action !== 'created');
  }

  /** Whether this command removes the pod when it exits. */
  isMade({ metadata: { uid } }: Pod): boolean {
    return this.#made.some((object) => object.uid === (this.#owners.get(uid) ?? uid));
  }

  /** Whether this command has pods to stop when it exits. */
  get makesPods(): boolean {
    return this.#made.some(({ uid, kind }) => uid !== undefined && (kind === 'Pod' || isWorkload({ kind })));
  }

  /** Pods deleted by another client before they terminated. */
  get deletedByOthers(): Pod[] {
    return [...this.#deletedByOthers].flatMap((uid) => this.pods.get(uid) ?? []);
  }

  /** Workloads deleted by another client before they had finished. */
  get lostWorkloads(): AppliedObject[] {
    return this.workloads.objects.filter(({ uid }) => this.workloads.isLost(uid));
  }

  /** Workloads without pods that are waiting for something, such as a suspended Job. `progress` says what they are waiting for. */
  get idleWorkloads(): { object: AppliedObject; progress: string }[] {
    return this.workloads.objects.flatMap((object) => {
      const { isOver = true, isComplete = false, progress = '' } = this.workloads.stateOf(object.uid) ?? {};
      return isOver || !isComplete || this.#podsOf(object.uid).length > 0 ? [] : [{ object, progress }];
    });
  }

  /**
   * Objects that this command created and still owns. Pods deleted by another client are excluded, because that client might have created
   * new ones with the same names.
   */
  get #made(): AppliedObject[] {
    return this.#objects.filter(
      ({ action, uid }) =>
        action === 'created' && (uid === undefined || !(this.#removed.has(uid) || this.#deletedByOthers.has(uid))),
    );
  }

  /**
   * Updates the pod states until the signal aborts or the node stops. If the node is only restarting, as in an upgrade, watching continues.
   */
  async watch(signal: AbortSignal): Promise<void> {
    const watchPods = async () => {
      while (!signal.aborted) await this.#watchConnection(signal);
    };
    try {
      await Promise.all([watchPods(), this.workloads.watch(signal, () => this.#wake())]);
    } catch (error) {
      if (signal.aborted) return;
      this.#failure = isNoNode(error) ? new PodwrightError('unavailable', NODE_ENDED) : error;
      this.#wake();
    }
  }

  /** Updates the pod states from a single watch; resolves when its connection ends. Rejects if no node responds and none is starting. */
  async #watchConnection(signal: AbortSignal): Promise<void> {
    const mine = new Set(uidsOf(this.#objects));
    const pods = this.#objects.filter(({ kind }) => kind === 'Pod');
    const only = pods.length === 1 && this.workloads.objects.length === 0 ? pods[0] : undefined;
    try {
      for await (const change of this.#client.watchPods(signal, only)) {
        if (change.type === 'listed') this.#missing();
        else if (mine.has(change.object.metadata.uid)) this.#take(change.object, change.type === 'DELETED');
        else await this.#takeOwned(change.object, change.type === 'DELETED');
      }
    } catch (error) {
      if (!isLostConnection(error)) throw error; // the connection of a killed node may also end without an error
    }
  }

  onPod(listener: (pod: Pod) => void): Disposable {
    this.#listeners.add(listener);
    for (const pod of this.pods.values()) listener(pod);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /**
   * Waits until every pod is settled or removed. Pods without probes must also stay settled for `steadyMs`: the kubelet reports them as
   * ready as soon as their containers are running, even if these fail a moment later. On a slow host they fail later, so the wait grows
   * with the time that the pod took to start.
   */
  async settled(signal: AbortSignal, steadyMs: number): Promise<void> {
    const dueMs = (uid: string) => {
      const pod = this.pods.get(uid);
      if (this.#removed.has(uid) || pod === undefined || isProven(pod, this.#isOver)) return 0;
      const settledAtMs = this.#settledAtMs.get(uid) ?? Date.now();
      const slowMs = Math.min(STEADY_MS, (settledAtMs - this.#startedAtMs) * SLOW_SHARE);
      return settledAtMs + Math.max(steadyMs, slowMs) - Date.now();
    };
    do {
      await this.#until(() => this.#areSettled, signal);
      const waitMs = Math.max(0, ...this.uids.map(dueMs));
      if (waitMs > 0) await sleep(waitMs, signal);
    } while (!this.#areSettled || this.uids.some((uid) => dueMs(uid) > 0));
  }

  get #areSettled(): boolean {
    return (
      this.uids.every((uid) => this.#is(uid, this.#isSettled)) &&
      this.workloads.objects.every(({ uid }) => this.#isWorkloadSettled(uid))
    );
  }

  /**
   * Whether nothing more can happen to a workload's pods: the workload is complete, has failed or was removed, or all its pods have
   * terminated or can never start.
   */
  #isWorkloadSettled(uid: string): boolean {
    if (this.workloads.isRemoved(uid)) return true;
    const state = this.workloads.stateOf(uid);
    if (state === undefined) return false;
    const { wanted = 0, isComplete, failure } = state;
    if (failure !== undefined) return true;
    const pods = this.#podsOf(uid);
    if (this.#neverStarts(uid)) return true;
    return pods.length >= wanted && (isComplete || (wanted > 0 && pods.every(this.#isOver)));
  }

  #podsOf(workload: string): Pod[] {
    const made = [...this.#owners]
      .filter(([, owner]) => owner === workload)
      .flatMap(([uid]) => this.pods.get(uid) ?? []);
    // pods in the manifest that the workload has adopted
    const adopted = uidsOf(this.#objects).flatMap((uid) => this.pods.get(uid) ?? []);
    return [...made, ...adopted.filter((pod) => controllerUid(pod) === workload)];
  }

  /** Waits until every pod has terminated, can never start, or has been removed, and no workload creates any more pods. */
  ended(signal: AbortSignal): Promise<void> {
    const isOver = (uid: string) =>
      this.workloads.isRemoved(uid) || this.workloads.stateOf(uid)?.isOver === true || this.#neverStarts(uid);
    return this.#until(
      () =>
        this.uids.every((uid) => this.#is(uid, this.#isOver)) && this.workloads.objects.every(({ uid }) => isOver(uid)),
      signal,
    );
  }

  /** Whether a workload has pods and none of them can ever start. */
  #neverStarts(uid: string): boolean {
    const pods = this.#podsOf(uid);
    return pods.length > 0 && pods.every((pod) => !isEnded(pod) && isOver(pod));
  }

  /**
   * Returns the exit code once the pods have terminated: 0 if all succeeded, the exit code of one that failed, or 1 if one was deleted
   * before it terminated. A workload's pods count only if the workload has failed.
   */
  exitCode(): number {
    const counts = ({ metadata: { uid } }: Pod) => {
      const owner = this.#owners.get(uid) ?? this.#pastOwners.get(uid);
      return owner === undefined ? !this.#deletedByOthers.has(uid) : !this.#hasSucceeded(owner);
    };
    const code = exitCodeOf([...this.pods.values()].filter(counts));
    const vanished = uidsOf(this.#objects).some((uid) => this.#deletedByOthers.has(uid) || !this.pods.has(uid));
    const failed = this.workloads.objects.some(({ uid }) => !this.#hasSucceeded(uid));
    return code === 0 && (vanished || failed) ? 1 : code;
  }

  #hasSucceeded(workload: string): boolean {
    const state = this.workloads.stateOf(workload);
    return state !== undefined && state.failure === undefined && state.isComplete && !this.workloads.isLost(workload);
  }

  /** Deletes the created objects and waits until the pods are removed. */
  async remove(gracePeriodSeconds?: number, signal?: AbortSignal): Promise<void> {
    this.#removing = true;
    // Delete workloads and pods first: a ConfigMap must exist while the containers that use it are terminating.
    const made = this.#made;
    const pods = made.filter(({ kind }) => kind === 'Pod');
    const ofApi = await this.#located(made);
    const workloads = ofApi.filter(isWorkload);
    // claims and their files are retained for the next `podwright run`
    const others = [
      ...made.filter(({ kind, apiVersion }) => apiVersion === undefined && kind !== 'Pod' && kind !== CLAIM),
      ...ofApi.filter((object) => !isWorkload(object)).reverse(),
    ];
    const timeoutMs = removalTimeoutMs([...this.pods.values()], { gracePeriodSeconds });
    using bound = withTimeout(signal, timeoutMs, 'wait until the pods have ended');
    try {
      await raceAbort(Promise.all(workloads.map((object) => this.#delete(object))), bound);
      await raceAbort(Promise.all(pods.map((object) => this.#delete(object, gracePeriodSeconds))), bound);
      await raceAbort(this.#endOwned(gracePeriodSeconds), bound);
      const owners = new Set(made.map(({ uid }) => uid));
      const isGone = () => ![...this.#owners.values()].some((owner) => owners.has(owner));
      await this.#until(() => isGone() && uidsOf(pods).every((uid) => this.#removed.has(uid)), bound);
      for (const object of others) await raceAbort(this.#delete(object), bound);
    } catch (error) {
      if (!isDeadlineExceeded(error) || signal?.aborted) throw error;
      const message = `stop the pods: they have not ended within ${Math.round(timeoutMs / 1000)} s; 'podwright describe POD' shows why`;
      throw new PodwrightError('deadline_exceeded', message);
    }
  }

  /** Finds the paths of the objects that exist only in a Kubernetes API. */
  async #located(objects: readonly AppliedObject[]): Promise<(AppliedObject & { path: string })[]> {
    const ofApi = objects.filter((one): one is AppliedObject & { apiVersion: string } => one.apiVersion !== undefined);
    return ofApi.length === 0 ? [] : await this.#client.locate(ofApi);
  }

  /** Deletes the pods of removed workloads with the given grace period. If there is none, leaves them to the API's garbage collector. */
  async #endOwned(gracePeriodSeconds: number | undefined): Promise<void> {
    if (gracePeriodSeconds === undefined) return;
    const owned = [...this.#owners.keys()].flatMap((uid) => this.pods.get(uid) ?? []).filter((pod) => this.isMade(pod));
    await Promise.all(
      owned.map((pod) => this.#delete({ kind: 'Pod', ...podName(pod), action: 'created' }, gracePeriodSeconds)),
    );
  }

  async #delete(object: AppliedObject & { path?: string }, gracePeriodSeconds?: number): Promise<void> {
    try {
      await this.#client.delete(object, gracePeriodSeconds);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (object.uid !== undefined) this.#removed.add(object.uid);
    }
  }

  /** Marks pods missing from the initial list as removed, because they were deleted before the watch began. */
  #missing(): void {
    for (const uid of uidsOf(this.#objects)) if (!this.pods.has(uid)) this.#removed.add(uid);
    this.#wake();
  }

  /**
   * Whether a pod has terminated or can never start. For a pod that existed before this command, a failed pull does not count, because the
   * image might have become available since.
   */
  readonly #isOver = (pod: Pod): boolean => (this.old.has(pod.metadata.uid) ? isEnded(pod) : isOver(pod));
  readonly #isSettled = (pod: Pod): boolean => isSettled(pod, this.#isOver);

  #is(uid: string, condition: (pod: Pod) => boolean): boolean {
    const pod = this.pods.get(uid);
    return this.#removed.has(uid) || (pod !== undefined && condition(pod));
  }

  /** Records a pod that one of this command's workloads created. Forgets it once it is deleted, unless it is a terminated pod of a Job. */
  async #takeOwned(pod: Pod, isDeleted: boolean): Promise<void> {
    const { uid } = pod.metadata;
    const owner = this.#owners.get(uid) ?? (await this.workloads.ownerOf(pod));
    if (owner === undefined) return;
    if (isDeleted) {
      this.#owners.delete(uid);
      if (this.workloads.isJob(owner) && isEnded(this.pods.get(uid) ?? pod)) this.#pastOwners.set(uid, owner);
      else this.pods.delete(uid);
      return this.#wake();
    }
    this.#owners.set(uid, owner);
    this.#update(pod);
  }

  #take(pod: Pod, isDeleted: boolean): void {
    const { uid, deletionTimestamp } = pod.metadata;
    const before = this.pods.get(uid);
    const endedBefore = before !== undefined && isEnded(before);
    if ((isDeleted || deletionTimestamp !== undefined) && !this.#removing && !endedBefore)
      this.#deletedByOthers.add(uid);
    if (isDeleted) this.#removed.add(uid);
    this.#update(pod);
  }

  #update(pod: Pod): void {
    const { uid } = pod.metadata;
    this.pods.set(uid, pod);
    if (!this.#isSettled(pod)) this.#settledAtMs.delete(uid);
    else if (!this.#settledAtMs.has(uid)) this.#settledAtMs.set(uid, Date.now());
    for (const listener of this.#listeners) listener(pod);
    this.#wake();
  }

  #wake(): void {
    for (const check of this.#waiting) check();
  }

  #until(condition: () => boolean, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = () => {
      if (condition()) resolve();
      else if (this.#failure !== undefined) reject(this.#failure);
    };
    this.#waiting.add(check);
    check();
    return raceAbort(promise, signal).finally(() => this.#waiting.delete(check));
  }
}

const podName = ({ metadata: { namespace, name } }: Pod) => ({ namespace, name });

function uidsOf(objects: AppliedObject[]): string[] {
  return objects.flatMap(({ kind, uid }) => (kind === 'Pod' && uid !== undefined ? [uid] : []));
}

const controllerUid = ({ metadata }: Pod): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
