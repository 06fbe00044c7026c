import { isDeepStrictEqual } from 'node:util';
import { Broadcast, type Subscription } from '@podwright/base';
import {
  type ContainerStatus,
  formatTime,
  isStaticPod,
  type ObjectMeta,
  type Pod,
  type PodStatus,
} from '@podwright/kube-api';
import { isShutDown } from '../kubecontainer/sync-result.ts';
import { withForeign } from './foreign-conditions.ts';
import { isRefused } from './generate-pod-status.ts';
import { refreshedConditions } from './pod-conditions.ts';
import type { StatusRecord, StatusRecords } from './status-records.ts';

/** The addition, modification or deletion of a pod. The version increases by one with each change to any pod. */
export type PodChange = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; pod: Pod; version: number };

/** Holds the versioned statuses of all pods and publishes changes to them. */
export class StatusManager {
  /** Published pods by UID. `isNew`: no sync has published a status for the pod yet. */
  readonly #pods = new Map<string, { pod: Pod; version: number; isNew?: true }>();
  readonly #changes = new Broadcast<PodChange>();
  /** The current labels and annotations by pod UID, so that a sync that started earlier does not restore stale ones. */
  readonly #wanted = new Map<string, Pick<ObjectMeta, 'labels' | 'annotations'>>();
  /** Statuses that an earlier kubelet process published, by pod UID. */
  readonly #recorded: Map<string, StatusRecord>;
  readonly #records: Pick<StatusRecords, 'save' | 'delete'> | undefined;
  #version = 0;

  /**
   * `recorded`: the statuses recorded by an earlier kubelet process. `records`: where statuses are stored; if omitted, nothing is stored.
   */
  constructor(recorded = new Map<string, StatusRecord>(), records?: Pick<StatusRecords, 'save' | 'delete'>) {
    this.#recorded = recorded;
    this.#records = records;
  }

  /** Returns the status that syncs have published for the pod. */
  get(podUid: string): PodStatus | undefined {
    const known = this.#pods.get(podUid);
    return known?.isNew ? undefined : known?.pod.status;
  }

  /**
   * Publishes a pod that has not been synced yet and may have to wait for its first sync, with its last known status or with a `status`
   * that explains the wait. Does not replace a status published by a sync.
   */
  introduce(pod: Pod, status: PodStatus = this.lastKnown(pod) ?? { phase: 'Pending' }): void {
    const known = this.#pods.get(pod.metadata.uid);
    if (known !== undefined && (!known.isNew || isSame(known.pod, pod, status))) return;
    this.#show(pod, status, { isNew: true });
  }

  /**
   * Returns the published status or, if there is none, the status recorded by an earlier process, merged with the API server's; failing
   * that, the API server's status alone. A pod that was deleted and added again with the same UID starts from scratch, and so does a static
   * pod that was terminated by a host shutdown.
   */
  lastKnown(pod: Pod): PodStatus | undefined {
    const { uid, namespace, name, deletionTimestamp } = pod.metadata;
    const recorded = this.#recorded.get(uid);
    const wasShutDown = isStaticPod(pod) && isShutDown(recorded?.status);
    const startsOver = wasShutDown || (recorded?.going === true && deletionTimestamp === undefined);
    const isOwn = recorded?.namespace === namespace && recorded.name === name && !startsOver;
    return this.get(uid) ?? (isOwn ? withForeign(withReported(recorded.status, pod.status), pod.status) : pod.status);
  }

  /** Merges in other writers' conditions from the API server, such as readiness gates. */
  adoptForeign({ metadata, status: theirs }: Pod): void {
    const now = formatTime(Date.now());
    this.change(metadata.uid, (pod, status) => {
      const adopted = withForeign(status, theirs);
      return isRefused(status) ? adopted : { ...adopted, conditions: refreshedConditions(pod, adopted, now) };
    });
  }

  /** Returns the pod as clients see it: its spec, its status, and its version as `resourceVersion`. */
  pod(podUid: string): Pod | undefined {
    return this.#pods.get(podUid)?.pod;
  }

  pods(): Pod[] {
    return [...this.#pods.values()].map(({ pod }) => pod);
  }

  /** Publishes and records a pod with its status. Does nothing and returns false if neither has changed. */
  set(given: Pod, status: PodStatus): boolean {
    const { uid } = given.metadata;
    const pod = { ...given, metadata: { ...given.metadata, ...this.#wanted.get(uid) } };
    const known = this.#pods.get(uid);
    const clean = dropUndefined(status);
    if (known !== undefined && !known.isNew && isSame(known.pod, pod, clean)) return false;
    this.#show(pod, clean);
    const { namespace, name, deletionTimestamp } = pod.metadata;
    const going = deletionTimestamp === undefined ? {} : { going: true };
    this.#records?.save(uid, { namespace, name, status: clean, ...going });
    return true;
  }

  #show(pod: Pod, status: PodStatus, how?: { isNew: true }): void {
    const { uid } = pod.metadata;
    const version = ++this.#version;
    const seen = withVersion(pod, status, version);
    const type = this.#pods.has(uid) ? 'MODIFIED' : 'ADDED';
    this.#pods.set(uid, { pod: seen, version, ...how });
    this.#changes.publish({ type, pod: seen, version });
  }

  /** Changes a pod's published status immediately, regardless of any running sync. Has no effect before the pod's first sync. */
  change(podUid: string, change: (pod: Pod, status: PodStatus) => PodStatus): void {
    const [pod, status] = [this.pod(podUid), this.get(podUid)];
    if (pod !== undefined && status !== undefined) this.set(pod, change(pod, status));
  }

  /** Publishes changed labels and annotations immediately, even for a pod that is no longer synced. */
  relabel({ metadata: { uid, labels, annotations } }: Pod): void {
    this.#wanted.set(uid, { labels, annotations });
    const known = this.#pods.get(uid);
    if (known?.isNew)
      this.introduce({ ...known.pod, metadata: { ...known.pod.metadata, labels, annotations } }, known.pod.status);
    else if (known?.pod.status !== undefined) this.set(known.pod, known.pod.status);
  }

  /** Deletes the status of a pod that has been removed. */
  delete(podUid: string): void {
    this.#wanted.delete(podUid);
    this.#recorded.delete(podUid);
    this.#records?.delete(podUid);
    const known = this.#pods.get(podUid);
    if (known === undefined) return;
    this.#pods.delete(podUid);
    this.#changes.publish({ type: 'DELETED', pod: known.pod, version: ++this.#version });
  }

  /** Returns the UIDs of the pods that an earlier process recorded and for which `isKnown` returns false. */
  orphans(isKnown: (podUid: string) => boolean): string[] {
    return [...this.#recorded.keys()].filter((uid) => !isKnown(uid));
  }

  /** Subscribes to pod changes made after this call, until the signal aborts. */
  subscribe(signal: AbortSignal): Subscription<PodChange> {
    return this.#changes.subscribe(signal);
  }
}

function withVersion(pod: Pod, status: PodStatus, version: number): Pod {
  return { ...pod, metadata: { ...pod.metadata, resourceVersion: String(version) }, status };
}

function isSame(known: Pod, pod: Pod, status: PodStatus): boolean {
  const wanted = ({ metadata, spec }: Pod) => ({ metadata: { ...metadata, resourceVersion: undefined }, spec });
  return isDeepStrictEqual(known.status, status) && isDeepStrictEqual(wanted(known), wanted(pod));
}

/** Removes undefined values, so that they do not affect comparisons. */
function dropUndefined(status: PodStatus): PodStatus {
  return JSON.parse(JSON.stringify(status)) as PodStatus;
}

const STATUS_LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const;

/**
 * Returns the recorded status, updated with later container starts and exits that were reported to the API server: the kubelet may have
 * been killed before recording them. A reported exit is never reverted, because API servers reject that. Pure.
 */
function withReported(status: PodStatus, reported: PodStatus | undefined): PodStatus {
  const result = { ...status };
  for (const name of STATUS_LISTS) {
    const known = new Map(reported?.[name]?.map((one) => [one.name, one]));
    const merged = status[name]?.map((own) => later(own, known.get(own.name)));
    if (merged !== undefined) result[name] = merged;
  }
  return result;
}

function later(own: ContainerStatus, reported: ContainerStatus | undefined): ContainerStatus {
  if (reported === undefined || reported.restartCount < own.restartCount) return own;
  const isNewer = reported.restartCount > own.restartCount || own.state.terminated === undefined;
  return isNewer && reported.state.terminated !== undefined ? reported : own;
}
