/** Reports pod statuses to an API server and deletes terminated pods there. */
import { isDeepStrictEqual } from 'node:util';
import {
  Backoff,
  background,
  errorCode,
  errorMessage,
  type Failpoint,
  follow,
  type Logger,
  noFailpoint,
} from '@podwright/base';
import type { ContainerStatus, KubeObject, Pod, PodStatus } from '@podwright/kube-api';
import { compareVersions, isApiStatus, type KubeClient, PODS } from '@podwright/kube-client';
import { isTerminal } from '../status/pod-phase.ts';
import type { PodChange, StatusManager } from '../status/status-manager.ts';
import {
  PENDING_STATUS_HOLD_MS,
  STARTING_STATUS_HOLD_MS,
  STATUS_OUTAGE_BACKOFF,
  STATUS_RECONCILE_MS,
  STATUSES_AT_ONCE,
} from './limits.ts';
import { mergeStatus } from './merge-status.ts';
import { shapedStatus } from './shaped-status.ts';
import { statusPatch } from './status-patch.ts';

/** The last known API object for one of the kubelet's pods: the pod itself or its mirror pod. */
export type ShownPod = { pod: Pod; isMirror: boolean };

export type StatusSyncOptions = {
  client: KubeClient;
  statuses: Pick<StatusManager, 'get' | 'pods' | 'subscribe'>;
  shownAs: (podUid: string) => ShownPod | undefined;
  /** True if any of the pod's containers is running or might still start. */
  couldRun: (podUid: string) => boolean;
  /** True if the pod has terminated and released its resources. */
  isFinished: (podUid: string) => boolean;
  logger: Logger;
  /** Test hook, called at the stages `status/merged`, `status/patched` and `status/deleted`. */
  failpoint?: Failpoint;
  reconcileMs?: number;
};

/** The pod's metadata and status as last received from the API server. */
type Known = { metadata: KnownMetadata; status: PodStatus | undefined };
type KnownMetadata = Pick<KubeObject['metadata'], 'uid' | 'resourceVersion' | 'deletionTimestamp'>;

/** The last status patch for a pod: the kubelet status it was computed from, and the API server's response. */
type Exchange = { own: PodStatus; answer: Known };

/** An unvalidated response from the API server. */
type Answer = KubeObject & { status?: unknown };

const OUTAGE = 'outage';

/**
 * Sends each changed status immediately, except for a Pending pod's status, which is sent after a short delay. Changes made while a patch
 * is in flight are coalesced into the next patch. A patch is computed from the latest known version of the pod and is conditional on that
 * version; the pod is read from the API server only after a conflict. Failed patches, and statuses that differ at the API server, are sent
 * again on the next change or by the reconciliation every ten seconds. While the API server is unreachable, only one pod at a time is
 * tried.
 */
export class StatusSync {
  readonly #options: StatusSyncOptions;
  readonly #dirty = new Set<string>();
  readonly #busy = new Set<string>();
  /** Pending pods whose status is held back, and until when (`performance.now`). */
  readonly #held = new Map<string, { atMs: number; timer: NodeJS.Timeout }>();
  readonly #exchanges = new Map<string, Exchange>();
  /** Pods that the kubelet has deleted from the API server. Finalizers can delay the removal of their objects. */
  readonly #deleted = new Set<string>();
  /** Pods whose status the API server has rejected; each rejection is logged only once. */
  readonly #refused = new Set<string>();
  readonly #stop = new AbortController();
  readonly #outage = new Backoff(STATUS_OUTAGE_BACKOFF);
  #pause: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StatusSyncOptions) {
    this.#options = options;
  }

  start(): void {
    background(this.#options.logger, 'statuses of pods are no longer sent', this.#follow());
    for (const { metadata } of this.#options.statuses.pods()) this.touch(metadata.uid);
    this.#timer = setInterval(() => this.#reconcile(), this.#options.reconcileMs ?? STATUS_RECONCILE_MS);
  }

  /** Sends the pod's status immediately, without the delay for Pending pods. */
  touch(podUid: string): void {
    this.#release(podUid);
    this.#dirty.add(podUid);
    this.#pump();
  }

  /** Sends the pod's status if the API server does not have it yet, or deletes the pod from the API server if that is now possible. */
  consider(podUid: string): void {
    const shown = this.#options.shownAs(podUid);
    if (shown === undefined || !this.#isDue(podUid, shown)) return;
    const status = this.#options.statuses.get(podUid);
    if (status?.phase !== 'Pending') return this.touch(podUid);
    const holdMs = isStarting(status) ? STARTING_STATUS_HOLD_MS : PENDING_STATUS_HOLD_MS;
    const atMs = performance.now() + holdMs;
    const known = this.#held.get(podUid);
    if (known !== undefined && known.atMs <= atMs) return;
    clearTimeout(known?.timer);
    const timer = setTimeout(() => this.touch(podUid), holdMs);
    this.#held.set(podUid, { atMs, timer });
  }

  stop(): void {
    this.#stop.abort(new Error('the kubelet stops'));
    clearInterval(this.#timer);
    clearTimeout(this.#pause);
    for (const podUid of [...this.#held.keys()]) this.#release(podUid);
  }

  #release(podUid: string): void {
    clearTimeout(this.#held.get(podUid)?.timer);
    this.#held.delete(podUid);
  }

  #follow(): Promise<void> {
    const { statuses } = this.#options;
    const onValue = ({ type, pod }: PodChange) => {
      if (type === 'DELETED') this.#forget(pod.metadata.uid);
      else this.consider(pod.metadata.uid);
    };
    const subscribe = (signal: AbortSignal) => statuses.subscribe(signal);
    return follow({ subscribe, onValue, onOverflow: () => this.#reconcile() }, this.#stop.signal);
  }

  #forget(podUid: string): void {
    this.#release(podUid);
    for (const known of [this.#dirty, this.#deleted, this.#refused, this.#exchanges]) known.delete(podUid);
  }

  /** Sends statuses that are missing or outdated at the API server, deletes terminated pods there, and drops the state of removed pods. */
  #reconcile(): void {
    const { statuses, shownAs } = this.#options;
    for (const uid of [...this.#exchanges.keys(), ...this.#deleted, ...this.#refused])
      if (statuses.get(uid) === undefined && !this.#busy.has(uid)) this.#forget(uid);
    for (const { metadata } of statuses.pods()) {
      const { uid } = metadata;
      const shown = shownAs(uid);
      if (shown === undefined) continue;
      if (shown.pod.metadata.deletionTimestamp === undefined) this.#deleted.delete(uid); // the server was restored from a backup
      const isShown = isAsSent(shown.pod.status, this.#exchanges.get(uid)?.answer.status);
      // another client changed the status, or the server was restored from a backup, so the last response is outdated
      if (!isShown) this.#exchanges.delete(uid);
      if (!isShown || this.#isDue(uid, shown)) this.touch(uid);
    }
  }

  #isDue(podUid: string, shown: ShownPod): boolean {
    const exchange = this.#exchanges.get(podUid);
    const own = this.#options.statuses.get(podUid);
    if (exchange === undefined || own === undefined || !isDeepStrictEqual(exchange.own, own)) return true;
    const heldBack = isTerminal(own.phase) && !isTerminal(exchange.answer.status?.phase);
    if (heldBack && !this.#options.couldRun(podUid)) return true;
    return this.#canDelete(podUid, shown.pod.metadata, { ...shown, status: exchange.answer.status });
  }

  #pump(): void {
    const most = this.#pause === undefined ? STATUSES_AT_ONCE : 0;
    for (const uid of this.#dirty) {
      if (this.#busy.size >= most || this.#stop.signal.aborted) return;
      if (this.#busy.has(uid)) continue;
      this.#dirty.delete(uid);
      this.#busy.add(uid);
      const synced = this.#sync(uid).finally(() => {
        this.#busy.delete(uid);
        this.#pump();
      });
      background(this.#options.logger, 'the status of a pod is not sent', synced);
    }
  }

  async #sync(podUid: string): Promise<void> {
    try {
      await this.#send(podUid);
      this.#outage.forget(OUTAGE);
      this.#refused.delete(podUid);
    } catch (error) {
      if (this.#stop.signal.aborted || isApiStatus(error, 404)) return;
      if (isOutage(error)) this.#waitOut(podUid);
      else if (this.#refused.has(podUid)) return;
      else this.#refused.add(podUid);
      const fields = { uid: podUid, error: errorMessage(error) };
      this.#options.logger.warn(fields, 'the status of a pod could not be sent to the API server');
    }
  }

  /** Pauses all sending for the backoff period, then resumes with this pod. */
  #waitOut(podUid: string): void {
    this.#dirty.add(podUid);
    if (this.#pause !== undefined) return;
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#pump();
    }, this.#outage.next(OUTAGE));
  }

  async #send(podUid: string): Promise<void> {
    const { client, statuses, shownAs, failpoint = noFailpoint } = this.#options;
    const shown = shownAs(podUid);
    const own = statuses.get(podUid);
    if (shown === undefined || own === undefined || this.#deleted.has(podUid)) return;
    const { namespace, name, uid } = shown.pod.metadata;
    const answer = await this.#patch(podUid, { shown, own });
    if (answer === undefined) return;
    await failpoint('status/patched');
    this.#exchanges.set(podUid, { own, answer });
    if (!this.#canDelete(podUid, answer.metadata, { ...shown, status: answer.status })) return;
    const options = { gracePeriodSeconds: 0, preconditions: { uid } };
    await client.delete(PODS, { namespace, name }, options, { signal: this.#stop.signal });
    await failpoint('status/deleted');
    this.#deleted.add(podUid);
  }

  /** Patches the status and returns the resulting pod, or `undefined` if the API server's pod of this name has a different UID. */
  async #patch(podUid: string, { shown, own }: { shown: ShownPod; own: PodStatus }): Promise<Known | undefined> {
    const { client, couldRun, failpoint = noFailpoint } = this.#options;
    const { namespace, name, uid } = shown.pod.metadata;
    const [place, { signal }] = [{ namespace, name }, this.#stop];
    const from = async ({ metadata, status: theirs }: Known, resourceVersion?: string): Promise<Known> => {
      const merged = mergeStatus({ theirs, own, couldRun: couldRun(podUid), isMirror: shown.isMirror });
      const { body, changed } = statusPatch({ uid, resourceVersion }, theirs, merged);
      await failpoint('status/merged');
      if (!changed) return { metadata, status: theirs };
      return known(await client.patch(PODS, place, { type: 'strategic', body, subresource: 'status' }, { signal }));
    };
    const newest = this.#newest(podUid, shown);
    const { resourceVersion } = newest.metadata;
    try {
      if (resourceVersion !== undefined) return await from(newest, resourceVersion);
    } catch (error) {
      if (!isApiStatus(error, 'Conflict')) throw error;
    }
    const read = known(await client.get<Answer>(PODS, place, { signal }));
    return read.metadata.uid === uid ? await from(read) : undefined;
  }

  /** Returns the latest known version of the pod, from the watch or from the response to the last patch. */
  #newest(podUid: string, { pod }: ShownPod): Known {
    const answer = this.#exchanges.get(podUid)?.answer;
    const isNewer = (compareVersions(answer?.metadata.resourceVersion, pod.metadata.resourceVersion) ?? 0) > 0;
    return isNewer ? answer! : { metadata: pod.metadata, status: pod.status };
  }

  /**
   * Whether a pod marked for deletion can be removed from the API server: the kubelet has finished with it, and its status there is
   * terminal. Mirror pods are removed by `MirrorPods` instead.
   */
  #canDelete(
    podUid: string,
    { deletionTimestamp }: KnownMetadata,
    { isMirror, status }: Pick<ShownPod, 'isMirror'> & { status: PodStatus | undefined },
  ): boolean {
    return (
      deletionTimestamp !== undefined &&
      !isMirror &&
      isTerminal(status?.phase) &&
      this.#options.isFinished(podUid) &&
      !this.#deleted.has(podUid)
    );
  }
}

function known({ metadata: { uid, resourceVersion, deletionTimestamp }, status }: Answer): Known {
  return { metadata: { uid, resourceVersion, deletionTimestamp }, status: shapedStatus(status) };
}

/** Waiting reasons that say no more than that a container has not been started yet (upstream's defaultWaitingState). */
const TURN_REASONS: readonly unknown[] = [undefined, 'ContainerCreating', 'PodInitializing'];

/** Whether no container of a Pending pod has started and no container's waiting reason says why. */
function isStarting({ reason, initContainerStatuses = [], containerStatuses = [] }: PodStatus): boolean {
  const isWaiting = ({ state: { running, terminated, waiting } }: ContainerStatus) =>
    running === undefined && terminated === undefined && TURN_REASONS.includes(waiting?.reason);
  return reason === undefined && [...initContainerStatuses, ...containerStatuses].every(isWaiting);
}

function isAsSent(shown: PodStatus | undefined, answer: PodStatus | undefined): boolean {
  return !statusPatch({ uid: '' }, shown, answer ?? { phase: 'Pending' }).changed;
}

function isOutage(error: unknown): boolean {
  return ['unavailable', 'deadline_exceeded', 'resource_exhausted', 'unauthenticated'].includes(errorCode(error) ?? '');
}
