/** Tells an API server the statuses of pods, and has it forget pods that have ended. */
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
import type { KubeObject, Pod, PodStatus } from '@podwright/kube-api';
import { compareVersions, isApiStatus, type KubeClient, PODS } from '@podwright/kube-client';
import { isTerminal } from '../status/pod-phase.ts';
import type { PodChange, StatusManager } from '../status/status-manager.ts';
import { PENDING_STATUS_HOLD_MS, STATUS_OUTAGE_BACKOFF, STATUS_RECONCILE_MS, STATUSES_AT_ONCE } from './limits.ts';
import { mergeStatus } from './merge-status.ts';
import { shapedStatus } from './shaped-status.ts';
import { statusPatch } from './status-patch.ts';

/** The pod of the API server that shows a pod of the kubelet, as it was last seen there: itself, or its mirror. */
export type ShownPod = { pod: Pod; isMirror: boolean };

export type StatusSyncOptions = {
  client: KubeClient;
  statuses: Pick<StatusManager, 'get' | 'pods' | 'subscribe'>;
  shownAs: (podUid: string) => ShownPod | undefined;
  /** Something of the pod runs or may still begin. */
  couldRun: (podUid: string) => boolean;
  /** The pod has ended and holds nothing any more. */
  isFinished: (podUid: string) => boolean;
  logger: Logger;
  /** Stages: `status/merged`, `status/patched`, `status/deleted`. */
  failpoint?: Failpoint;
  reconcileMs?: number;
};

/** A pod as the API server had it once. */
type Known = { metadata: KnownMetadata; status: PodStatus | undefined };
type KnownMetadata = Pick<KubeObject['metadata'], 'uid' | 'resourceVersion' | 'deletionTimestamp'>;

/** The last exchange about a pod: what was to be told, and what the API server had afterwards. */
type Told = { own: PodStatus; answer: Known };

/** A pod of the API server: no more is known of what it answers. */
type Answer = KubeObject & { status?: unknown };

const OUTAGE = 'outage';

/**
 * Each change of a status is sent as soon as it is there, of a pod that is Pending a little later; what changes while a pod's status
 * is under way is sent in one afterwards. A patch is made from the newest version of the pod that is known here and holds for that
 * one alone; the pod is read only if it has another one.
 * What failed, and what the API server shows otherwise than it was told, is sent again with the next change or by a look every ten
 * seconds. While the API server does not answer one pod at a time is tried.
 */
export class StatusSync {
  readonly #options: StatusSyncOptions;
  readonly #dirty = new Set<string>();
  readonly #busy = new Set<string>();
  /** Pending pods whose status waits for more. */
  readonly #held = new Map<string, NodeJS.Timeout>();
  readonly #told = new Map<string, Told>();
  /** Deleted at the API server; finalizers may keep them there. */
  readonly #deleted = new Set<string>();
  /** The API server has refused their statuses, which was told. */
  readonly #refused = new Set<string>();
  readonly #stop = new AbortController();
  readonly #outage = new Backoff(STATUS_OUTAGE_BACKOFF);
  #pause: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StatusSyncOptions) {
    this.#options = options;
  }

  start(): void {
    background(this.#options.logger, 'statuses of pods are not sent any more', this.#follow());
    for (const { metadata } of this.#options.statuses.pods()) this.touch(metadata.uid);
    this.#timer = setInterval(() => this.#reconcile(), this.#options.reconcileMs ?? STATUS_RECONCILE_MS);
  }

  /** Sends the pod's status. */
  touch(podUid: string): void {
    this.#release(podUid);
    this.#dirty.add(podUid);
    this.#pump();
  }

  /** Something else about the pod has changed: sends its status if the API server does not have it, or if the pod can go. */
  consider(podUid: string): void {
    const shown = this.#options.shownAs(podUid);
    if (shown === undefined || !this.#isDue(podUid, shown)) return;
    if (this.#options.statuses.get(podUid)?.phase !== 'Pending') this.touch(podUid);
    else if (!this.#held.has(podUid)) {
      const timer = setTimeout(() => this.touch(podUid), PENDING_STATUS_HOLD_MS);
      this.#held.set(podUid, timer);
    }
  }

  stop(): void {
    this.#stop.abort(new Error('the kubelet stops'));
    clearInterval(this.#timer);
    clearTimeout(this.#pause);
    for (const podUid of [...this.#held.keys()]) this.#release(podUid);
  }

  #release(podUid: string): void {
    clearTimeout(this.#held.get(podUid));
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
    for (const known of [this.#dirty, this.#deleted, this.#refused, this.#told]) known.delete(podUid);
  }

  /** What was not told, or is not shown as it was told, or can go. What came back for pods that are gone is forgotten. */
  #reconcile(): void {
    const { statuses, shownAs } = this.#options;
    for (const uid of [...this.#told.keys(), ...this.#deleted, ...this.#refused])
      if (statuses.get(uid) === undefined && !this.#busy.has(uid)) this.#forget(uid);
    for (const { metadata } of statuses.pods()) {
      const { uid } = metadata;
      const shown = shownAs(uid);
      if (shown === undefined) continue;
      if (shown.pod.metadata.deletionTimestamp === undefined) this.#deleted.delete(uid); // restored from a backup
      const isShown = isAsTold(shown.pod.status, this.#told.get(uid)?.answer.status);
      // somebody has changed it, or the server was restored from a backup: what it has answered counts no more
      if (!isShown) this.#told.delete(uid);
      if (!isShown || this.#isDue(uid, shown)) this.touch(uid);
    }
  }

  #isDue(podUid: string, shown: ShownPod): boolean {
    const told = this.#told.get(podUid);
    const own = this.#options.statuses.get(podUid);
    if (told === undefined || own === undefined || !isDeepStrictEqual(told.own, own)) return true;
    const heldBack = isTerminal(own.phase) && !isTerminal(told.answer.status?.phase);
    if (heldBack && !this.#options.couldRun(podUid)) return true;
    return this.#mayGo(podUid, shown.pod.metadata, { ...shown, status: told.answer.status });
  }

  #pump(): void {
    const most = this.#pause === undefined ? STATUSES_AT_ONCE : 0;
    for (const uid of this.#dirty) {
      if (this.#busy.size >= most || this.#stop.signal.aborted) return;
      if (this.#busy.has(uid)) continue;
      this.#dirty.delete(uid);
      this.#busy.add(uid);
      void this.#sync(uid).finally(() => {
        this.#busy.delete(uid);
        this.#pump();
      });
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
      this.#options.logger.warn(fields, 'the status of a pod could not be told to the API server');
    }
  }

  /** Nothing is sent for a while; then this pod is the first. */
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
    this.#told.set(podUid, { own, answer });
    if (!this.#mayGo(podUid, answer.metadata, { ...shown, status: answer.status })) return;
    const options = { gracePeriodSeconds: 0, preconditions: { uid } };
    await client.delete(PODS, { namespace, name }, options, { signal: this.#stop.signal });
    await failpoint('status/deleted');
    this.#deleted.add(podUid);
  }

  /** The pod as the API server has it afterwards; none if it has another one of this name. */
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

  /** The pod as it was last seen: by the watch, or in the answer to the last patch. */
  #newest(podUid: string, { pod }: ShownPod): Known {
    const answer = this.#told.get(podUid)?.answer;
    const isNewer = (compareVersions(answer?.metadata.resourceVersion, pod.metadata.resourceVersion) ?? 0) > 0;
    return isNewer ? answer! : { metadata: pod.metadata, status: pod.status };
  }

  /** A pod that is to go must have ended, here and for everybody who looks at it there. Mirrors go when their pods do. */
  #mayGo(
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

function isAsTold(shown: PodStatus | undefined, answer: PodStatus | undefined): boolean {
  return !statusPatch({ uid: '' }, shown, answer ?? { phase: 'Pending' }).changed;
}

function isOutage(error: unknown): boolean {
  return ['unavailable', 'deadline_exceeded', 'resource_exhausted', 'unauthenticated'].includes(errorCode(error) ?? '');
}
