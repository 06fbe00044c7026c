/**
 * The pod lifecycle event generator: notices what happens to pods in the runtime. Truth comes from listings, so nothing that was
 * missed stays missed; the runtime's events only say when to look, so that looking is quick.
 */
import { errorMessage, isCancelled, isUnimplemented, type Logger, sleep } from '@podwright/base';
import { ContainerEventType, type CriClient } from '@podwright/cri';
import type { PodIdentity } from '../kubecontainer/pod-identity.ts';
import { emptyRuntimePod, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { type ListedPod, podOfEvent, type RuntimePodReader } from '../kuberuntime/runtime-pod-reader.ts';
import { lifecycleEvents, type PodLifecycleEvent } from './pod-lifecycle-events.ts';
import type { PodStatusCache } from './pod-status-cache.ts';

export type PlegOptions = {
  cri: CriClient;
  reader: RuntimePodReader;
  cache: PodStatusCache;
  logger: Logger;
  /** Time between two full listings while the runtime has no events, and while it has. */
  relistPeriodMs: number;
  eventedRelistPeriodMs: number;
  onEvents: (podUid: string, events: PodLifecycleEvent[]) => void;
};

/** How long an event about something that began may wait for the look of the step that began it. */
const BEGIN_DELAY_MS = 50;

/**
 * Without events, listings come quickly after a change and then slow down to the period: what ends soon is noticed soon,
 * and what has lasted long is noticed within a fraction of that.
 */
const afterChange = { delayMs: 40, growth: 1.3 };
const reconnectAfterMs = 1000;

export class Pleg {
  readonly #options: PlegOptions;
  readonly #controller = new AbortController();
  #records = new Map<string, ListedPod>();
  #evented = false;
  #lastRelistAtMs = performance.now();
  /** Everything that was there at this time is in the records. */
  #listedAtMs = 0;
  /** The pods that the last listing had. */
  #listed: ReadonlySet<string> = new Set();
  #delayMs = afterChange.delayMs;
  #nudge = new AbortController();
  #loops: Promise<unknown> = Promise.resolve();
  /** At most one look a pod runs; a request that comes meanwhile is served by one more. */
  readonly #looks = new Map<string, { running: Promise<RuntimePodStatus>; next?: Promise<RuntimePodStatus> }>();

  constructor(options: PlegOptions) {
    this.#options = options;
  }

  /** Looks once at everything, then keeps watching until `stop`. */
  async start(): Promise<void> {
    await this.relist();
    this.#loops = Promise.all([this.#relistLoop(), this.#eventLoop()]);
  }

  async stop(): Promise<void> {
    this.#controller.abort();
    await this.#loops;
  }

  /** The pod as it is now or was at some time after `sinceMs` (`performance.now`). Never waits for a period to pass. */
  async getNewerThan(pod: PodIdentity, sinceMs: number): Promise<RuntimePodStatus> {
    const cached = this.#options.cache.get(pod.uid);
    if (cached !== undefined && cached.asOfMs >= sinceMs) return cached.status;
    // What the last listing did not have, and we have not touched since, is not there.
    const absent = this.#listedAtMs >= sinceMs && !this.#listed.has(pod.uid);
    if (cached === undefined && absent) return emptyRuntimePod(pod);
    return this.look(pod);
  }

  /** Looks at one pod now, and tells of what changed. Called after each of our own actions. */
  look(pod: PodIdentity): Promise<RuntimePodStatus> {
    const current = this.#looks.get(pod.uid);
    if (current !== undefined) {
      current.next ??= current.running.then(
        () => this.#startLook(pod),
        () => this.#startLook(pod),
      );
      return current.next;
    }
    return this.#startLook(pod);
  }

  #startLook(pod: PodIdentity): Promise<RuntimePodStatus> {
    const entry: { running: Promise<RuntimePodStatus>; next?: Promise<RuntimePodStatus> } = {
      running: this.#look(pod),
    };
    this.#looks.set(pod.uid, entry);
    const finished = () => {
      if (this.#looks.get(pod.uid) === entry && entry.next === undefined) this.#looks.delete(pod.uid);
    };
    entry.running.then(finished, finished);
    return entry.running;
  }

  async #look(pod: PodIdentity): Promise<RuntimePodStatus> {
    const asOfMs = performance.now();
    const status = await this.#options.reader.podStatus(pod, this.#controller.signal);
    if (this.#options.cache.set(pod.uid, { status, asOfMs })) this.#record(pod.uid, listedFrom(status));
    return status;
  }

  /** Lists everything and looks closer at the pods that differ from their record. A pod that cannot be read keeps its record. */
  async relist(): Promise<void> {
    const asOfMs = performance.now();
    const listed = await this.#options.reader.listPods(this.#controller.signal);
    this.#lastRelistAtMs = performance.now();
    this.#listedAtMs = asOfMs;
    this.#listed = new Set(listed.keys());
    const uids = new Set([...listed.keys(), ...this.#records.keys()]);
    await Promise.all(
      [...uids].map(async (uid) => {
        const seen = this.#options.cache.get(uid);
        if (seen !== undefined && seen.asOfMs > asOfMs) return;
        const record = this.#records.get(uid);
        if (lifecycleEvents(record, listed.get(uid)).length === 0) return;
        const { pod } = (listed.get(uid) ?? record)!;
        await this.look(pod).catch((error: unknown) => {
          this.#options.logger.warn({ pod: pod.name, error: errorMessage(error) }, 'the pod could not be read');
        });
      }),
    );
  }

  #record(uid: string, now: ListedPod | undefined): void {
    const events = lifecycleEvents(this.#records.get(uid), now);
    if (now === undefined) {
      this.#records.delete(uid);
      this.#options.cache.delete(uid);
    } else this.#records.set(uid, now);
    if (events.length === 0) return;
    this.#delayMs = afterChange.delayMs;
    this.#options.onEvents(uid, events);
    this.#nudge.abort();
  }

  async #relistLoop(): Promise<void> {
    const { signal } = this.#controller;
    let failure = '';
    while (!signal.aborted) {
      try {
        await this.#pause(signal);
        await this.relist();
        failure = '';
      } catch (error) {
        if (signal.aborted) return;
        const words = errorMessage(error);
        if (words !== failure) this.#options.logger.warn({ error: words }, 'listing the pods failed; trying on');
        failure = words;
      }
    }
  }

  /** Waits for the next listing; a change on the way begins the waiting anew, because others may follow quickly. */
  async #pause(signal: AbortSignal): Promise<void> {
    do {
      this.#nudge = new AbortController();
      await sleep(this.#nextDelayMs(), AbortSignal.any([signal, this.#nudge.signal])).catch(() => undefined);
      signal.throwIfAborted();
    } while (this.#nudge.signal.aborted && !this.#isLate());
  }

  /** Changes must not put off the listing for longer than its period. */
  #isLate(): boolean {
    const { relistPeriodMs, eventedRelistPeriodMs } = this.#options;
    return performance.now() - this.#lastRelistAtMs > (this.#evented ? eventedRelistPeriodMs : relistPeriodMs);
  }

  #nextDelayMs(): number {
    const { relistPeriodMs, eventedRelistPeriodMs } = this.#options;
    if (this.#evented) return eventedRelistPeriodMs;
    const delayMs = Math.min(relistPeriodMs, this.#delayMs);
    this.#delayMs = delayMs * afterChange.growth;
    return delayMs;
  }

  async #eventLoop(): Promise<void> {
    const { signal } = this.#controller;
    while (!signal.aborted) {
      try {
        await this.#followEvents(signal);
      } catch (error) {
        if (isUnimplemented(error)) return; // the listings alone have to do
        if (!isCancelled(error) && !signal.aborted) {
          this.#options.logger.warn({ error: errorMessage(error) }, 'the event stream of the runtime broke');
        }
      } finally {
        this.#evented = false;
      }
      await sleep(reconnectAfterMs, signal).catch(() => undefined);
    }
  }

  async #followEvents(signal: AbortSignal): Promise<void> {
    for await (const event of this.#options.cri.runtime.getContainerEvents({}, { signal })) {
      this.#evented = true;
      const pod = podOfEvent(event);
      if (pod === undefined) continue;
      // What begins is mostly our own doing, whose step looks by itself; what ends may be news.
      const begins =
        event.containerEventType === ContainerEventType.CONTAINER_CREATED_EVENT ||
        event.containerEventType === ContainerEventType.CONTAINER_STARTED_EVENT;
      const seenAtMs = performance.now();
      const look = () =>
        begins ? sleep(BEGIN_DELAY_MS, signal).then(() => this.getNewerThan(pod, seenAtMs)) : this.look(pod);
      look().catch((error: unknown) => {
        if (!signal.aborted)
          this.#options.logger.warn({ pod: pod.name, error: errorMessage(error) }, 'the pod could not be read');
      });
    }
  }
}

function listedFrom(status: RuntimePodStatus): ListedPod | undefined {
  const { pod, sandboxes, containers } = status;
  if (sandboxes.length === 0 && containers.length === 0) return undefined;
  return {
    pod,
    sandboxes: sandboxes.map(({ id, ready, createdAtMs }) => ({
      id,
      state: ready ? 'ready' : 'notready',
      createdAtMs,
    })),
    containers: containers.map(({ id, name, state, sandboxId, createdAtMs }) => ({
      id,
      name,
      state,
      sandboxId,
      createdAtMs,
    })),
  };
}
