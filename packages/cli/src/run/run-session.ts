import {
  isDeadlineExceeded,
  isErrno,
  isNotFound,
  PodwrightError,
  raceAbort,
  sleep,
  withTimeout,
} from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { ApplyResult } from '@podwright/node-api';
import type { NodeClient } from '../client/node-client.ts';
import { STEADY_MS } from '../limits.ts';
import { exitCodeOf, isEnded, isOver, isProven, isSettled } from './pod-end.ts';
import { removalTimeoutMs } from './removal-timeout.ts';

/** How much of the time that a pod took to start it must then run at least, up to `STEADY_MS`. */
const SLOW_SHARE = 0.15;
const NODE_ENDED = 'the node ended while its pods were running';

export type AppliedObject = ApplyResult['objects'][number];

/**
 * The pods of one `podwright run`: their latest states, and since when each is ready. Objects that stood before are
 * watched like the others, and are never removed.
 */
export class RunSession {
  readonly pods = new Map<string, Pod>();
  /** UIDs of the pods that were there before. */
  readonly old: ReadonlySet<string>;
  readonly #client: NodeClient;
  readonly #objects: AppliedObject[];
  readonly #startedAtMs = Date.now();
  readonly #listeners = new Set<(pod: Pod) => void>();
  /** Since when pods are settled, by UID. */
  readonly #settledAtMs = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  readonly #gone = new Set<string>();
  readonly #taken = new Set<string>();
  #removing = false;
  #failure: unknown;

  constructor(client: NodeClient, applied: ApplyResult) {
    this.#client = client;
    this.#objects = applied.objects;
    this.old = new Set(uidsOf(this.#objects.filter(({ action }) => action === 'unchanged' || action === 'resized')));
  }

  /** How long each settled pod took, by UID. */
  get tookMs(): Map<string, number> {
    return new Map([...this.#settledAtMs].map(([uid, atMs]) => [uid, atMs - this.#startedAtMs]));
  }

  /** UIDs of the pods that were applied. */
  get uids(): string[] {
    return uidsOf(this.#objects);
  }

  /** What was there before, and therefore stays. */
  get stood(): AppliedObject[] {
    return this.#objects.filter(({ action }) => action !== 'created');
  }

  /** Whether the pod will be removed at the end. */
  isMade({ metadata: { uid } }: Pod): boolean {
    return this.#made.some((object) => object.uid === uid);
  }

  /** Whether there is a pod to stop at the end. */
  get makesPods(): boolean {
    return uidsOf(this.#made).length > 0;
  }

  /** Pods that somebody else deleted before they had ended. */
  get taken(): Pod[] {
    return [...this.#taken].flatMap((uid) => this.pods.get(uid) ?? []);
  }

  /** What was made here and is not somebody else's by now: who deletes a pod may have put another of its name there. */
  get #made(): AppliedObject[] {
    return this.#objects.filter(
      ({ action, uid }) =>
        action === 'created' && (uid === undefined || !(this.#gone.has(uid) || this.#taken.has(uid))),
    );
  }

  /** Keeps the states up to date until the signal aborts or the node goes away. */
  async watch(signal: AbortSignal): Promise<void> {
    const mine = new Set(this.uids);
    const pods = this.#objects.filter(({ kind }) => kind === 'Pod');
    try {
      for await (const change of this.#client.watchPods(signal, pods.length === 1 ? pods[0] : undefined)) {
        if (change.type === 'listed') this.#missing();
        else if (mine.has(change.object.metadata.uid)) this.#take(change.object, change.type === 'DELETED');
      }
      if (!signal.aborted) throw new PodwrightError('unavailable', NODE_ENDED);
    } catch (error) {
      if (signal.aborted) return;
      // how the connection of a killed node ends depends on what it was just doing
      this.#failure = isErrno(error, 'ECONNRESET') ? new PodwrightError('unavailable', NODE_ENDED) : error;
      this.#wake();
    }
  }

  onPod(listener: (pod: Pod) => void): Disposable {
    this.#listeners.add(listener);
    for (const pod of this.pods.values()) listener(pod);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /**
   * Waits until every pod is ready, as ready as it can be, or gone, and has been so for `steadyMs` if no probe tells that it is:
   * without one a pod is ready as soon as its containers run, also those that fail at once. A host that was slow to start it is as
   * slow to have it fail, and gets longer.
   */
  async settled(signal: AbortSignal, steadyMs: number): Promise<void> {
    const dueMs = (uid: string) => {
      const pod = this.pods.get(uid);
      if (this.#gone.has(uid) || pod === undefined || isProven(pod, this.#isOver)) return 0;
      const settledAtMs = this.#settledAtMs.get(uid) ?? Date.now();
      const slowMs = Math.min(STEADY_MS, (settledAtMs - this.#startedAtMs) * SLOW_SHARE);
      return settledAtMs + Math.max(steadyMs, slowMs) - Date.now();
    };
    do {
      await this.#until(() => this.uids.every((uid) => this.#is(uid, this.#isSettled)), signal);
      const waitMs = Math.max(0, ...this.uids.map(dueMs));
      if (waitMs > 0) await sleep(waitMs, signal);
    } while (!this.uids.every((uid) => this.#is(uid, this.#isSettled) && dueMs(uid) <= 0));
  }

  /** Waits until every pod has ended, can never begin, or is gone. */
  ended(signal: AbortSignal): Promise<void> {
    return this.#until(() => this.uids.every((uid) => this.#is(uid, this.#isOver)), signal);
  }

  /** Of pods that have ended: 0 if all succeeded, the exit code of one that failed, 1 if one was deleted before its end. */
  exitCode(): number {
    const code = exitCodeOf([...this.pods.values()].filter(({ metadata: { uid } }) => !this.#taken.has(uid)));
    const vanished = this.uids.some((uid) => this.#taken.has(uid) || !this.pods.has(uid));
    return code === 0 && vanished ? 1 : code;
  }

  /** Deletes what was made here and waits until the node knows none of those pods any more. */
  async remove(gracePeriodSeconds?: number, signal?: AbortSignal): Promise<void> {
    this.#removing = true;
    // Pods first: a ConfigMap must not vanish under a container that is still ending.
    const pods = this.#made.filter(({ kind }) => kind === 'Pod');
    // claims stay with their files, which the next run goes on with
    const others = this.#made.filter(({ kind }) => kind !== 'Pod' && kind !== 'PersistentVolumeClaim');
    const timeoutMs = removalTimeoutMs([...this.pods.values()], { gracePeriodSeconds });
    using bound = withTimeout(signal, timeoutMs, 'wait until the pods have ended');
    try {
      await raceAbort(Promise.all(pods.map((object) => this.#delete(object, gracePeriodSeconds))), bound);
      await this.#until(() => uidsOf(pods).every((uid) => this.#gone.has(uid)), bound);
      await raceAbort(Promise.all(others.map((object) => this.#delete(object))), bound);
    } catch (error) {
      if (!isDeadlineExceeded(error) || signal?.aborted) throw error;
      const message = `stop the pods: they have not ended within ${Math.round(timeoutMs / 1000)} s; 'podwright describe POD' tells why`;
      throw new PodwrightError('deadline_exceeded', message);
    }
  }

  async #delete(object: AppliedObject, gracePeriodSeconds?: number): Promise<void> {
    try {
      await this.#client.delete(object, gracePeriodSeconds);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (object.uid !== undefined) this.#gone.add(object.uid);
    }
  }

  /** Pods that were deleted before the watch began never come in it. */
  #missing(): void {
    for (const uid of this.uids) if (!this.pods.has(uid)) this.#gone.add(uid);
    this.#wake();
  }

  /** What stood before may show a pull that failed long ago, of an image that is there by now. */
  readonly #isOver = (pod: Pod): boolean => (this.old.has(pod.metadata.uid) ? isEnded(pod) : isOver(pod));
  readonly #isSettled = (pod: Pod): boolean => isSettled(pod, this.#isOver);

  #is(uid: string, condition: (pod: Pod) => boolean): boolean {
    const pod = this.pods.get(uid);
    return this.#gone.has(uid) || (pod !== undefined && condition(pod));
  }

  #take(pod: Pod, gone: boolean): void {
    const { uid, deletionTimestamp } = pod.metadata;
    const before = this.pods.get(uid);
    const endedBefore = before !== undefined && isEnded(before);
    if ((gone || deletionTimestamp !== undefined) && !this.#removing && !endedBefore) this.#taken.add(uid);
    if (gone) this.#gone.add(uid);
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

function uidsOf(objects: AppliedObject[]): string[] {
  return objects.flatMap(({ kind, uid }) => (kind === 'Pod' && uid !== undefined ? [uid] : []));
}
