import { errorMessage, isDeadlineExceeded, isErrno, isNotFound, PodwrightError, withTimeout } from '@podwright/base';
import type { ApplyResult, Pod } from '@podwright/kubelet';
import type { NodeClient } from '../client/node-client.ts';
import { printError } from '../output/terminal-text.ts';
import type { RunView } from './live-view.ts';
import { isEnded, isSettled } from './pod-rows.ts';
import { removalTimeoutMs } from './removal-timeout.ts';

const NODE_ENDED = 'the node ended while its pods were running';

type AppliedObject = ApplyResult['objects'][number];

/** The pods of one `podwright run`: their latest states, and when each was ready for the first time. */
export class RunSession {
  readonly pods = new Map<string, Pod>();
  readonly tookMs = new Map<string, number>();
  readonly #client: NodeClient;
  readonly #objects: AppliedObject[];
  readonly #startedAtMs = Date.now();
  readonly #listeners = new Set<(pod: Pod) => void>();
  readonly #gone = new Set<string>();
  #failure: unknown;
  readonly #failed = Promise.withResolvers<never>();

  constructor(client: NodeClient, applied: ApplyResult) {
    this.#client = client;
    this.#objects = applied.objects;
    this.#failed.promise.catch(() => undefined); // it may be awaited later, or never
  }

  /** Rejects when the pods can no longer be watched. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** UIDs of the pods that were applied. */
  get uids(): string[] {
    return this.#objects.flatMap(({ kind, uid }) => (kind === 'Pod' && uid !== undefined ? [uid] : []));
  }

  /** Keeps the states up to date until the signal aborts or the node goes away. */
  async watch(signal: AbortSignal): Promise<void> {
    const mine = new Set(this.uids);
    try {
      for await (const { type, object } of this.#client.watchPods(signal)) {
        if (!mine.has(object.metadata.uid)) continue;
        if (type === 'DELETED') this.#gone.add(object.metadata.uid);
        this.#take(object);
      }
      if (!signal.aborted) throw new PodwrightError('unavailable', NODE_ENDED);
    } catch (error) {
      if (signal.aborted) return;
      // how the connection of a killed node ends depends on what it was just doing
      const failure = isErrno(error, 'ECONNRESET') ? new PodwrightError('unavailable', NODE_ENDED) : error;
      this.#failure = failure;
      this.#failed.reject(failure);
      this.#notify();
    }
  }

  onPod(listener: (pod: Pod) => void): Disposable {
    this.#listeners.add(listener);
    for (const pod of this.pods.values()) listener(pod);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Waits until every pod is ready or has ended. */
  settled(signal: AbortSignal): Promise<void> {
    return this.#until(() => this.uids.every((uid) => this.#is(uid, isSettled)), signal);
  }

  /** Waits until every pod has ended. */
  ended(signal: AbortSignal): Promise<void> {
    return this.#until(() => this.uids.every((uid) => this.#is(uid, isEnded)), signal);
  }

  /** Deletes what was applied and waits until the node knows none of the pods any more. */
  async remove(gracePeriodSeconds?: number, signal?: AbortSignal): Promise<void> {
    // Pods first: a ConfigMap must not vanish under a container that is still ending.
    const pods = this.#objects.filter(({ kind }) => kind === 'Pod');
    await Promise.all(pods.map((object) => this.#delete(object, gracePeriodSeconds)));
    await this.#untilGone(gracePeriodSeconds, signal);
    const others = this.#objects.filter(({ kind }) => kind !== 'Pod');
    await Promise.all(others.map((object) => this.#delete(object)));
  }

  async #untilGone(gracePeriodSeconds: number | undefined, signal: AbortSignal | undefined): Promise<void> {
    const timeoutMs = removalTimeoutMs([...this.pods.values()], { gracePeriodSeconds });
    using bound = withTimeout(signal, timeoutMs, 'wait until the pods have ended');
    await this.#until(() => this.uids.every((uid) => this.#gone.has(uid)), bound).catch((error: unknown) => {
      if (!isDeadlineExceeded(error)) throw error;
      const message = `stop the pods: they have not ended within ${Math.round(timeoutMs / 1000)} s; 'podwright describe POD' tells why`;
      throw new PodwrightError('deadline_exceeded', message);
    });
  }

  async #delete(object: AppliedObject, gracePeriodSeconds?: number): Promise<void> {
    try {
      await this.#client.delete(object, gracePeriodSeconds);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (object.uid !== undefined) this.#gone.add(object.uid);
    }
  }

  #is(uid: string, condition: (pod: Pod) => boolean): boolean {
    const pod = this.pods.get(uid);
    return this.#gone.has(uid) || (pod !== undefined && condition(pod));
  }

  #take(pod: Pod): void {
    const { uid } = pod.metadata;
    this.pods.set(uid, pod);
    if (isSettled(pod) && !this.tookMs.has(uid)) this.tookMs.set(uid, Date.now() - this.#startedAtMs);
    this.#notify(pod);
  }

  #notify(pod?: Pod): void {
    for (const wake of this.#waiting) wake();
    if (pod !== undefined) for (const listener of this.#listeners) listener(pod);
  }

  readonly #waiting = new Set<() => void>();

  #until(condition: () => boolean, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => reject(signal.reason);
    const check = () => {
      if (condition()) resolve();
      else if (this.#failure !== undefined) reject(this.#failure);
    };
    this.#waiting.add(check);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    check();
    return promise.finally(() => {
      this.#waiting.delete(check);
      signal.removeEventListener('abort', onAbort);
    });
  }
}

/** Shows the progress of image transfers; a runtime that is not ours has none to show. That the node ended, its pods' watch tells. */
export async function showTransfers(client: NodeClient, view: RunView, signal: AbortSignal): Promise<void> {
  try {
    for await (const progress of client.watchTransfers(signal)) view.transfer(progress);
  } catch (error) {
    if (!signal.aborted && !isErrno(error, 'ECONNRESET')) throw error;
  }
}

/** Shows warnings about the session's pods. */
export async function showEvents(
  client: NodeClient,
  options: { uids: Set<string>; view: RunView; signal: AbortSignal },
): Promise<void> {
  const { uids, view, signal } = options;
  try {
    for await (const { object } of client.watchEvents(signal)) {
      if (uids.has(object.involvedObject.uid)) view.event(object);
    }
  } catch (error) {
    if (!signal.aborted) printError(`podwright: events cannot be read: ${errorMessage(error)}`);
  }
}

/** The reason an aborted signal carries when a person pressed Ctrl-C or the process was asked to end. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signalName: NodeJS.Signals) {
    super(`interrupted by ${signalName}`);
    this.exitCode = signalName === 'SIGINT' ? 130 : 143;
  }
}

/** Aborts at the first SIGINT, SIGTERM or SIGHUP; `again` aborts at the second. */
export function interruptSignals(): { first: AbortSignal; again: AbortSignal } {
  const first = new AbortController();
  const again = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => (first.signal.aborted ? again : first).abort(new Interrupted(name)));
  }
  return { first: first.signal, again: again.signal };
}

/**
 * A signal that aborts after `timeoutMs` with a message about `--timeout`, never for `undefined`. It does not keep the command from
 * ending earlier.
 */
export function timeoutSignal(timeoutMs: number | undefined): AbortSignal {
  const controller = new AbortController();
  const giveUp = () =>
    controller.abort(
      new PodwrightError('deadline_exceeded', `the pods did not get there within ${timeoutMs! / 1000} s (--timeout)`),
    );
  if (timeoutMs !== undefined) setTimeout(giveUp, timeoutMs).unref();
  return controller.signal;
}
