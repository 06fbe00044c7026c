/**
 * The pod lifecycle event generator: notices what happens to pods in the runtime. An event of the runtime carries the sandbox and
 * its containers as they were right then, and is taken for a snapshot of them. Truth comes from listings, so nothing that was
 * missed stays missed.
 */
import {
  errorMessage,
  isCancelled,
  isUnimplemented,
  type Logger,
  type Registry,
  raceAbort,
  sleep,
  withTimeout,
} from '@podwright/base';
import { type ContainerEventResponse, ContainerEventType, type CriClient } from '@podwright/cri';
import { formatDuration } from '@podwright/kube-api';
import type { PodIdentity } from '../kubecontainer/pod-identity.ts';
import { emptyRuntimePod, type RuntimePodStatus, withSandbox } from '../kubecontainer/runtime-pod.ts';
import { REASON_SETTLES_MS } from '../kuberuntime/limits.ts';
import type { ListedPod, RuntimePodReader } from '../kuberuntime/runtime-pod-reader.ts';
import { type PlegMetrics, plegMetrics } from './pleg-metrics.ts';
import { hasChanged, hasOtherReason, listedFrom } from './pod-changes.ts';
import type { CachedStatus, PodStatusCache } from './pod-status-cache.ts';

/** How long the start of the kubelet waits for pods that are slow to be read. */
const PLEG_START_PATIENCE_MS = 10_000;

/** No listing answered for longer than this means that the kubelet is not healthy (upstream's genericPlegRelistThreshold). */
const PLEG_THRESHOLD_MS = 180_000;

export type PlegOptions = {
  cri: CriClient;
  reader: RuntimePodReader;
  cache: PodStatusCache;
  logger: Logger;
  /** Where listings and events are counted, as `kubelet_pleg_*` and `kubelet_evented_pleg_*`. */
  metrics?: Registry;
  /** Time between two full listings while the runtime has no events, and while it has. */
  relistPeriodMs: number;
  eventedRelistPeriodMs: number;
  /** A container or sandbox of the pod came, changed its state or went. */
  onChange: (podUid: string) => void;
  /** The runtime does not list its pods any more, or does again. */
  onListing: (works: boolean) => void;
};

/** The runtime reads what it puts into an event a little before it dates the event. */
const EVENT_MARGIN_MS = 5;
/** An event that seems older, or younger than now, has a clock that is not ours: it is only a reason to look. */
const MAX_EVENT_AGE_MS = 5000;

/**
 * Without events, listings come quickly after a change and then slow down to the period: what ends soon is noticed soon,
 * and what has lasted long is noticed within a fraction of that.
 */
const afterChange = { delayMs: 40, growth: 1.3 };
/** The pause between two listings, in times of what one takes: many pods on a busy host must not be busy with being listed. */
const PAUSE_PER_LISTING = 20;
const RECONNECT_AFTER_MS = 1000;

export class Pleg {
  readonly #options: PlegOptions;
  readonly #controller = new AbortController();
  #records = new Map<string, ListedPod>();
  #evented = false;
  /** What happened while no stream of events stood is in none of them: the next listing must come soon, whatever the events say. */
  #missedEvents = false;
  #lastRelistAtMs = performance.now();
  /** Everything that was there at this time is in the records. */
  #listedAtMs = 0;
  /** The pods that the last listing had. */
  #listed: ReadonlyMap<string, ListedPod> = new Map();
  /** Those of them of which nothing was there when they were looked at since, by UID. */
  readonly #gone = new Set<string>();
  #delayMs = afterChange.delayMs;
  /** How long the last listing took. */
  #listingMs = 0;
  #nudge = new AbortController();
  #loops: Promise<unknown> = Promise.resolve();
  /** When the last listing began that was answered, and the last of all; monotonic. */
  #seenAtMs: number | undefined;
  #relistedAtMs: number | undefined;
  readonly #metrics: PlegMetrics;
  /** At most one look a pod runs; a request that comes meanwhile is served by one more. */
  readonly #looks = new Map<string, { running: Promise<RuntimePodStatus>; next?: Promise<RuntimePodStatus> }>();

  /** Pods that are looked at once more in a while, by UID. */
  readonly #later = new Set<string>();

  constructor(options: PlegOptions) {
    this.#options = options;
    this.#metrics = plegMetrics(options.metrics);
  }

  /** Looks once at everything, then keeps watching until `stop`. A pod that does not answer does not hold it up for long. */
  async start(): Promise<void> {
    const looks = await this.#list();
    using patience = withTimeout(this.#controller.signal, PLEG_START_PATIENCE_MS, 'read the pods');
    await raceAbort(Promise.all(looks), patience).catch(() => undefined);
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
    this.#metrics.looked(secondsSince(asOfMs));
    this.#see(pod, { status, asOfMs });
    return status;
  }

  #see({ uid }: PodIdentity, snapshot: CachedStatus): void {
    const { cache, reader, onChange } = this.#options;
    const { status } = snapshot;
    const before = cache.get(uid)?.status;
    if (!cache.set(uid, snapshot)) return;
    const now = listedFrom(status);
    if (now === undefined && this.#listed.has(uid)) this.#gone.add(uid);
    else this.#gone.delete(uid);
    this.#record(uid, now);
    if (hasOtherReason(before, status)) onChange(uid);
    if (reader.isUnsettled(status)) this.#lookLater(status.pod);
  }

  /** Looks at the pod once more when the reasons of its containers' ends have settled: nothing else may happen to it before long. */
  #lookLater(pod: PodIdentity): void {
    const { signal } = this.#controller;
    if (this.#later.has(pod.uid) || signal.aborted) return;
    this.#later.add(pod.uid);
    void sleep(REASON_SETTLES_MS, signal).then(
      () => {
        this.#later.delete(pod.uid);
        return this.#tryLook(pod);
      },
      () => undefined,
    );
  }

  /** Why the kubelet cannot be said to know its pods: no listing was answered for long. `undefined` while one is in time. */
  problem(): string | undefined {
    if (this.#seenAtMs === undefined) return 'pleg has yet to be successful';
    const elapsedMs = performance.now() - this.#seenAtMs;
    if (elapsedMs <= PLEG_THRESHOLD_MS) return undefined;
    return `pleg was last seen active ${formatDuration(elapsedMs)} ago; threshold is ${formatDuration(PLEG_THRESHOLD_MS)}`;
  }

  /** The pods that the last listing had, also those that could not be read since, but not those that were seen to be gone. */
  listedPods(): PodIdentity[] {
    const pods = [...this.#listed.values()].map(({ pod }) => pod);
    return pods.filter(({ uid }) => !this.#gone.has(uid));
  }

  /** Whether the last listing had the pod. */
  lists(podUid: string): boolean {
    return this.#listed.has(podUid);
  }

  /**
   * Lists everything and begins to look closer at the pods that differ from their record. Nobody waits for these looks: a pod that
   * cannot be read keeps its record, and holds up no other.
   */
  async relist(): Promise<void> {
    await this.#list();
  }

  async #list(): Promise<Promise<void>[]> {
    const asOfMs = performance.now();
    const sinceLastMs = this.#relistedAtMs === undefined ? undefined : asOfMs - this.#relistedAtMs;
    this.#relistedAtMs = asOfMs;
    this.#missedEvents = false;
    let listed: ReadonlyMap<string, ListedPod>;
    try {
      listed = await this.#options.reader.listPods(this.#controller.signal);
    } finally {
      this.#metrics.relisted(secondsSince(asOfMs), sinceLastMs === undefined ? undefined : sinceLastMs / 1000);
    }
    this.#lastRelistAtMs = performance.now();
    this.#listingMs = this.#lastRelistAtMs - asOfMs;
    this.#seenAtMs = asOfMs;
    this.#metrics.seen(Math.floor(Date.now() / 1000));
    this.#listedAtMs = asOfMs;
    this.#listed = listed;
    this.#gone.clear();
    const looks: Promise<void>[] = [];
    for (const [uid, { pod }] of listed) if (this.#isOutOfDate(uid, asOfMs)) looks.push(this.#tryLook(pod));
    for (const [uid, { pod }] of this.#records)
      if (!listed.has(uid) && this.#isOutOfDate(uid, asOfMs)) looks.push(this.#tryLook(pod));
    return looks;
  }

  /** Whether the listing of that time has the pod otherwise than it was seen, and nobody is about to look at it. */
  #isOutOfDate(uid: string, asOfMs: number): boolean {
    const seen = this.#options.cache.get(uid);
    if (seen !== undefined && seen.asOfMs > asOfMs) return false;
    return hasChanged(this.#records.get(uid), this.#listed.get(uid)) && this.#looks.get(uid)?.next === undefined;
  }

  #record(uid: string, now: ListedPod | undefined): void {
    const changed = hasChanged(this.#records.get(uid), now);
    if (now === undefined) {
      this.#records.delete(uid);
      this.#options.cache.delete(uid);
    } else this.#records.set(uid, now);
    if (!changed) return;
    this.#delayMs = afterChange.delayMs;
    this.#options.onChange(uid);
    this.#nudge.abort();
  }

  async #relistLoop(): Promise<void> {
    const { signal } = this.#controller;
    let failure = '';
    while (!signal.aborted) {
      try {
        await this.#pause(signal);
        await this.relist();
        if (failure !== '') this.#options.onListing(true);
        failure = '';
      } catch (error) {
        if (signal.aborted) return;
        const message = errorMessage(error);
        if (message !== failure) this.#options.logger.warn({ error: message }, 'listing the pods failed; trying again');
        if (failure === '') this.#options.onListing(false);
        failure = message;
        this.#missedEvents = true;
      }
    }
  }

  /** Waits for the next listing; a change on the way begins the waiting anew, because others may follow quickly. */
  async #pause(signal: AbortSignal): Promise<void> {
    do {
      this.#nudge = new AbortController();
      await sleep(this.#nextDelayMs(), AbortSignal.any([signal, this.#nudge.signal])).catch(() => undefined);
      signal.throwIfAborted();
    } while (this.#nudge.signal.aborted && !this.#missedEvents && !this.#isLate());
  }

  /** Changes must not put off the listing for longer than its period. */
  #isLate(): boolean {
    const { relistPeriodMs, eventedRelistPeriodMs } = this.#options;
    return performance.now() - this.#lastRelistAtMs > (this.#evented ? eventedRelistPeriodMs : relistPeriodMs);
  }

  #nextDelayMs(): number {
    const { relistPeriodMs, eventedRelistPeriodMs } = this.#options;
    if (this.#evented && !this.#missedEvents) return eventedRelistPeriodMs;
    const delayMs = Math.min(relistPeriodMs, this.#delayMs);
    this.#delayMs = delayMs * afterChange.growth;
    // This pause counts from the last listing: a change on the way does not begin it anew.
    const pauseMs = Math.min(relistPeriodMs, PAUSE_PER_LISTING * this.#listingMs);
    return Math.max(delayMs, pauseMs - (performance.now() - this.#lastRelistAtMs));
  }

  /** Called where a stream ends and where the next one is seen to stand. */
  #listSoon(): void {
    this.#missedEvents = true;
    this.#nudge.abort();
  }

  #noteStream(): void {
    this.#listSoon();
    this.#evented = true;
    this.#metrics.connected();
  }

  async #eventLoop(): Promise<void> {
    const { signal } = this.#controller;
    while (!signal.aborted) {
      try {
        await this.#followEvents(signal);
      } catch (error) {
        if (isUnimplemented(error)) return; // the listings alone have to do
        if (!isCancelled(error) && !signal.aborted) {
          this.#metrics.connectionFailed();
          this.#options.logger.warn({ error: errorMessage(error) }, 'the event stream of the runtime broke');
        }
      } finally {
        this.#listSoon();
        this.#evented = false;
      }
      await sleep(RECONNECT_AFTER_MS, signal).catch(() => undefined);
    }
  }

  async #followEvents(signal: AbortSignal): Promise<void> {
    for await (const event of this.#options.cri.runtime.getContainerEvents({}, { signal })) {
      if (!this.#evented) this.#noteStream();
      this.#metrics.received(Math.max(0, Date.now() - Number(event.createdAt) / 1e6) / 1000);
      const toLookAt = await this.#apply(event).catch((error: unknown) => {
        this.#options.logger.warn({ id: event.containerId, error: errorMessage(error) }, 'an event could not be read');
        return undefined;
      });
      if (toLookAt !== undefined) void this.#tryLook(toLookAt);
    }
  }

  /**
   * Takes over what an event says, if that is surely newer than what was seen last. Returns the pod to be looked at, if the event
   * says anything new and may be older, or does not say what happened.
   */
  async #apply(event: ContainerEventResponse): Promise<PodIdentity | undefined> {
    const eventMs = eventTimeMs(event);
    const told = await this.#options.reader.readEvent(event);
    if (told === undefined) return this.#holderOfDeleted(event);
    const { pod, snapshot } = told;
    const known = this.#known(pod);
    if (snapshot === undefined || known === undefined) return pod;
    // What is deleted late may be all that there was of a pod that was removed meanwhile.
    if (known.status.sandboxes.length === 0 && isDeletion(event)) return undefined;
    const status = withSandbox(known.status, snapshot);
    if (eventMs !== undefined && (known.byEvent === true || eventMs > known.asOfMs)) {
      this.#see(pod, { status, asOfMs: Math.max(eventMs, known.asOfMs), byEvent: true });
      return undefined;
    }
    return hasChanged(this.#records.get(pod.uid), listedFrom(status)) ? pod : undefined;
  }

  /** The pod as it was seen last; nothing of it, if the last listing had none. */
  #known(pod: PodIdentity): CachedStatus | undefined {
    const cached = this.#options.cache.get(pod.uid);
    if (cached !== undefined || this.#listed.has(pod.uid)) return cached;
    return { status: emptyRuntimePod(pod), asOfMs: this.#listedAtMs };
  }

  /** Some runtimes no longer know whose it was when they tell that something is gone. */
  #holderOfDeleted({ containerId, podSandboxStatus }: ContainerEventResponse): PodIdentity | undefined {
    if (podSandboxStatus !== undefined) return undefined;
    return this.#options.cache.list().find(({ sandboxes }) => sandboxes.some(({ id }) => id === containerId))?.pod;
  }

  async #tryLook(pod: PodIdentity): Promise<void> {
    try {
      await this.look(pod);
    } catch (error) {
      if (this.#controller.signal.aborted) return;
      this.#options.logger.warn({ pod: pod.name, error: errorMessage(error) }, 'the pod could not be read');
    }
  }
}

const secondsSince = (sinceMs: number) => (performance.now() - sinceMs) / 1000;

function isDeletion({ containerEventType }: ContainerEventResponse): boolean {
  return containerEventType === ContainerEventType.CONTAINER_DELETED_EVENT;
}

/** Everything before this time (`performance.now`) is in the event; `undefined` if that cannot be told. */
function eventTimeMs({ createdAt }: ContainerEventResponse): number | undefined {
  const ageMs = Date.now() - Number(createdAt) / 1e6;
  if (ageMs < -1 || ageMs > MAX_EVENT_AGE_MS) return undefined;
  return performance.now() - ageMs - EVENT_MARGIN_MS;
}
