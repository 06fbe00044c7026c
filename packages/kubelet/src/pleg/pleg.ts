/**
 * The pod lifecycle event generator (PLEG), which detects pod changes in the container runtime. The runtime's events include the status of
 * the sandbox and its containers, and are used as snapshots. Periodic relists are authoritative and make up for missed events.
 */
import {
  errorMessage,
  isCancelled,
  isUnimplemented,
  type Logger,
  pause,
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

/** How long the kubelet waits at startup for all pods to be read. */
const PLEG_START_PATIENCE_MS = 10_000;

/** Time without a successful relist after which the kubelet is unhealthy (upstream's genericPlegRelistThreshold). */
const PLEG_THRESHOLD_MS = 180_000;

export type PlegOptions = {
  cri: CriClient;
  reader: RuntimePodReader;
  cache: PodStatusCache;
  logger: Logger;
  /** Registry for the `kubelet_pleg_*` and `kubelet_evented_pleg_*` metrics. */
  metrics?: Registry;
  /** Interval between relists without an event stream (`relistPeriodMs`) and with one (`eventedRelistPeriodMs`). */
  relistPeriodMs: number;
  eventedRelistPeriodMs: number;
  /** Called when a container or sandbox of the pod has been added or removed, or has changed state. */
  onChange: (podUid: string) => void;
  /** Called with `false` when listing pods starts to fail, and with `true` when it works again. */
  onListing: (works: boolean) => void;
};

/** Tolerance for event timestamps: the container runtime may read an event's status slightly before it sets the timestamp. */
const EVENT_MARGIN_MS = 5;
/**
 * Maximum age of an event whose timestamp is considered reliable. An event that appears to be older, or in the future, only triggers a read
 * of the pod.
 */
const MAX_EVENT_AGE_MS = 5000;

/**
 * Without events, the interval between relists is short after a change and then grows up to the configured period. So exits of short-lived
 * containers are detected quickly, and those of long-running ones within a fraction of their run time.
 */
const afterChange = { delayMs: 40, growth: 1.3 };
/**
 * Minimum pause between two relists, as a multiple of the duration of a relist, so that listing many pods does not overload a busy host.
 */
const PAUSE_PER_LISTING = 20;
const RECONNECT_AFTER_MS = 1000;

export class Pleg {
  readonly #options: PlegOptions;
  readonly #controller = new AbortController();
  #records = new Map<string, ListedPod>();
  #evented = false;
  /** Whether events might have been missed while there was no event stream. If so, the next relist runs soon. */
  #missedEvents = false;
  #lastRelistAtMs = performance.now();
  /** When the last successful relist started (monotonic). */
  #listedAtMs: number | undefined;
  /** The pods found by the last successful relist. */
  #listed: ReadonlyMap<string, ListedPod> = new Map();
  /** UIDs of pods that the last relist found, but that had been removed by the time they were read. */
  readonly #removed = new Set<string>();
  #delayMs = afterChange.delayMs;
  /** Duration of the last successful relist. */
  #listingMs = 0;
  #nudge = new AbortController();
  #loops: Promise<unknown> = Promise.resolve();
  /** When the last relist started, whether it succeeded or failed (monotonic). */
  #relistedAtMs: number | undefined;
  readonly #metrics: PlegMetrics;
  /**
   * Pod reads in progress, by UID. Reads of the same pod never overlap: requests that arrive during a read are coalesced into a single
   * further one.
   */
  readonly #updates = new Map<string, { running: Promise<RuntimePodStatus>; next?: Promise<RuntimePodStatus> }>();

  /** UIDs of pods that have a delayed read scheduled. */
  readonly #scheduled = new Set<string>();

  constructor(options: PlegOptions) {
    this.#options = options;
    this.#metrics = plegMetrics(options.metrics);
  }

  /** Reads all pods once, then watches them until `stop` is called. Waits for the reads for at most `PLEG_START_PATIENCE_MS`. */
  async start(): Promise<void> {
    const updates = await this.#list();
    using patience = withTimeout(this.#controller.signal, PLEG_START_PATIENCE_MS, 'read the pods');
    await raceAbort(Promise.all(updates), patience).catch(() => undefined);
    this.#loops = Promise.all([this.#relistLoop(), this.#eventLoop()]);
  }

  async stop(): Promise<void> {
    this.#controller.abort();
    await this.#loops;
  }

  /** Returns the pod's status as of `sinceMs` (`performance.now`) or later, either from the cache or by reading it now. */
  async getNewerThan(pod: PodIdentity, sinceMs: number): Promise<RuntimePodStatus> {
    const cached = this.#options.cache.get(pod.uid);
    if (cached !== undefined && cached.asOfMs >= sinceMs) return cached.status;
    // A pod that the last relist did not find, and that has not been read since, does not exist.
    const absent = (this.#listedAtMs ?? 0) >= sinceMs && !this.#listed.has(pod.uid);
    if (cached === undefined && absent) return emptyRuntimePod(pod);
    return this.updateCache(pod);
  }

  /** Reads one pod immediately and reports its changes. The kubelet calls this after each of its own actions on the pod. */
  updateCache(pod: PodIdentity): Promise<RuntimePodStatus> {
    const current = this.#updates.get(pod.uid);
    if (current !== undefined) {
      current.next ??= current.running.then(
        () => this.#startUpdate(pod),
        () => this.#startUpdate(pod),
      );
      return current.next;
    }
    return this.#startUpdate(pod);
  }

  #startUpdate(pod: PodIdentity): Promise<RuntimePodStatus> {
    const entry: { running: Promise<RuntimePodStatus>; next?: Promise<RuntimePodStatus> } = {
      running: this.#update(pod),
    };
    this.#updates.set(pod.uid, entry);
    const finished = () => {
      if (this.#updates.get(pod.uid) === entry && entry.next === undefined) this.#updates.delete(pod.uid);
    };
    entry.running.then(finished, finished);
    return entry.running;
  }

  async #update(pod: PodIdentity): Promise<RuntimePodStatus> {
    const asOfMs = performance.now();
    const status = await this.#options.reader.podStatus(pod, this.#controller.signal);
    this.#metrics.podRead(secondsSince(asOfMs));
    this.#see(pod, { status, asOfMs });
    return status;
  }

  #see({ uid }: PodIdentity, snapshot: CachedStatus): void {
    const { cache, reader, onChange } = this.#options;
    const { status } = snapshot;
    const before = cache.get(uid)?.status;
    if (!cache.set(uid, snapshot)) return;
    const now = listedFrom(status);
    if (now === undefined && this.#listed.has(uid)) this.#removed.add(uid);
    else this.#removed.delete(uid);
    this.#record(uid, now);
    if (hasOtherReason(before, status)) onChange(uid);
    if (reader.isUnsettled(status)) this.#updateLater(status.pod);
  }

  /**
   * Reads the pod again once the exit reasons of its containers have settled, because the container runtime might not send an event when a
   * reason changes.
   */
  #updateLater(pod: PodIdentity): void {
    const { signal } = this.#controller;
    if (this.#scheduled.has(pod.uid) || signal.aborted) return;
    this.#scheduled.add(pod.uid);
    void sleep(REASON_SETTLES_MS, signal).then(
      () => {
        this.#scheduled.delete(pod.uid);
        return this.#tryUpdate(pod);
      },
      () => undefined,
    );
  }

  /** Health check: returns the problem if no relist has succeeded within the threshold; otherwise `undefined`. */
  problem(): string | undefined {
    if (this.#listedAtMs === undefined) return 'pleg has yet to be successful';
    const elapsedMs = performance.now() - this.#listedAtMs;
    if (elapsedMs <= PLEG_THRESHOLD_MS) return undefined;
    return `pleg was last seen active ${formatDuration(elapsedMs)} ago; threshold is ${formatDuration(PLEG_THRESHOLD_MS)}`;
  }

  /** Returns the pods found by the last relist, including unreadable ones but excluding those removed since. */
  listedPods(): PodIdentity[] {
    const pods = [...this.#listed.values()].map(({ pod }) => pod);
    return pods.filter(({ uid }) => !this.#removed.has(uid));
  }

  /** Whether the last relist found the pod. */
  lists(podUid: string): boolean {
    return this.#listed.has(podUid);
  }

  /**
   * Lists all pods, and starts reading those that differ from their last recorded state. Does not wait for these reads, so that a pod that
   * cannot be read, and therefore keeps its old state, does not block others.
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
    this.#metrics.seen(Math.floor((Date.now() - this.#listingMs) / 1000));
    this.#listedAtMs = asOfMs;
    this.#listed = listed;
    this.#removed.clear();
    const updates: Promise<void>[] = [];
    for (const [uid, { pod }] of listed) if (this.#isOutOfDate(uid, asOfMs)) updates.push(this.#tryUpdate(pod));
    for (const [uid, { pod }] of this.#records)
      if (!listed.has(uid) && this.#isOutOfDate(uid, asOfMs)) updates.push(this.#tryUpdate(pod));
    return updates;
  }

  /** Whether the pod, as found by the relist at `asOfMs`, differs from its last recorded state, and no further read of it is pending. */
  #isOutOfDate(uid: string, asOfMs: number): boolean {
    const seen = this.#options.cache.get(uid);
    if (seen !== undefined && seen.asOfMs > asOfMs) return false;
    return hasChanged(this.#records.get(uid), this.#listed.get(uid)) && this.#updates.get(uid)?.next === undefined;
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
        if (message !== failure) this.#options.logger.warn({ error: message }, 'listing the pods failed, retrying');
        if (failure === '') this.#options.onListing(false);
        failure = message;
        this.#missedEvents = true;
      }
    }
  }

  /**
   * Waits until it is time for the next relist. A change restarts the wait with the short interval, because more changes may soon follow.
   */
  async #pause(signal: AbortSignal): Promise<void> {
    do {
      this.#nudge = new AbortController();
      await pause(this.#nextDelayMs(), AbortSignal.any([signal, this.#nudge.signal]));
      signal.throwIfAborted();
    } while (this.#nudge.signal.aborted && !this.#missedEvents && !this.#isLate());
  }

  /** Whether the relist is overdue: changes must not delay it beyond its period. */
  #isLate(): boolean {
    const { relistPeriodMs, eventedRelistPeriodMs } = this.#options;
    return performance.now() - this.#lastRelistAtMs > (this.#evented ? eventedRelistPeriodMs : relistPeriodMs);
  }

  #nextDelayMs(): number {
    const { relistPeriodMs, eventedRelistPeriodMs } = this.#options;
    if (this.#evented && !this.#missedEvents) return eventedRelistPeriodMs;
    const delayMs = Math.min(relistPeriodMs, this.#delayMs);
    this.#delayMs = delayMs * afterChange.growth;
    // The pause after a slow relist is measured from the start of that relist, so that changes in between do not extend it.
    const pauseMs = Math.min(relistPeriodMs, PAUSE_PER_LISTING * this.#listingMs);
    return Math.max(delayMs, pauseMs - (performance.now() - this.#lastRelistAtMs));
  }

  /** Makes the next relist run soon. Called when an event stream ends and when the next one is established. */
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
        if (isUnimplemented(error)) return; // without events, the PLEG relies on relists
        if (!isCancelled(error) && !signal.aborted) {
          this.#metrics.connectionFailed();
          this.#options.logger.warn({ error: errorMessage(error) }, 'the event stream of the runtime failed');
        }
      } finally {
        this.#listSoon();
        this.#evented = false;
      }
      await pause(RECONNECT_AFTER_MS, signal);
    }
  }

  async #followEvents(signal: AbortSignal): Promise<void> {
    for await (const event of this.#options.cri.runtime.getContainerEvents({}, { signal })) {
      if (!this.#evented) this.#noteStream();
      this.#metrics.received(Math.max(0, Date.now() - Number(event.createdAt) / 1e6) / 1000);
      const outdated = await this.#apply(event).catch((error: unknown) => {
        this.#options.logger.warn({ id: event.containerId, error: errorMessage(error) }, 'could not read an event');
        return undefined;
      });
      if (outdated !== undefined) void this.#tryUpdate(outdated);
    }
  }

  /**
   * Caches the status in an event if it is certain to be newer than the cached one. Returns the pod if it must be read instead, because the
   * event's status differs but may be older, or because the event has no usable status.
   */
  async #apply(event: ContainerEventResponse): Promise<PodIdentity | undefined> {
    const eventMs = eventTimeMs(event);
    const decoded = await this.#options.reader.readEvent(event);
    if (decoded === undefined) return this.#podOfDeleted(event);
    const { pod, snapshot } = decoded;
    const known = this.#known(pod);
    if (snapshot === undefined || known === undefined) return pod;
    // A late deletion event must not resurrect a pod that has already been removed.
    if (known.status.sandboxes.length === 0 && isDeletion(event)) return undefined;
    const status = withSandbox(known.status, snapshot);
    if (eventMs !== undefined && (known.byEvent === true || eventMs > known.asOfMs)) {
      this.#see(pod, { status, asOfMs: Math.max(eventMs, known.asOfMs), byEvent: true });
      return undefined;
    }
    return hasChanged(this.#records.get(pod.uid), listedFrom(status)) ? pod : undefined;
  }

  /** Returns the pod's cached status, or an empty one if the last relist did not find the pod. */
  #known(pod: PodIdentity): CachedStatus | undefined {
    const cached = this.#options.cache.get(pod.uid);
    if (cached !== undefined || this.#listed.has(pod.uid)) return cached;
    return { status: emptyRuntimePod(pod), asOfMs: this.#listedAtMs ?? 0 };
  }

  /** Returns the pod of a deleted sandbox, for container runtimes that omit the sandbox status from deletion events. */
  #podOfDeleted({ containerId, podSandboxStatus }: ContainerEventResponse): PodIdentity | undefined {
    if (podSandboxStatus !== undefined) return undefined;
    return this.#options.cache.list().find(({ sandboxes }) => sandboxes.some(({ id }) => id === containerId))?.pod;
  }

  async #tryUpdate(pod: PodIdentity): Promise<void> {
    try {
      await this.updateCache(pod);
    } catch (error) {
      if (this.#controller.signal.aborted) return;
      this.#options.logger.warn({ pod: pod.name, error: errorMessage(error) }, 'could not read the pod');
    }
  }
}

const secondsSince = (sinceMs: number) => (performance.now() - sinceMs) / 1000;

function isDeletion({ containerEventType }: ContainerEventResponse): boolean {
  return containerEventType === ContainerEventType.CONTAINER_DELETED_EVENT;
}

/**
 * Returns the time (`performance.now`) up to which the event's status is certain to be current; `undefined` if the event's timestamp is
 * unreliable.
 */
function eventTimeMs({ createdAt }: ContainerEventResponse): number | undefined {
  const ageMs = Date.now() - Number(createdAt) / 1e6;
  if (ageMs < -1 || ageMs > MAX_EVENT_AGE_MS) return undefined;
  return performance.now() - ageMs - EVENT_MARGIN_MS;
}
