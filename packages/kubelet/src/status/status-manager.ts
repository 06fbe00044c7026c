import { isDeepStrictEqual } from 'node:util';
import { Broadcast, type Subscription } from '@podwright/base';
import { formatTime, isStaticPod, type ObjectMeta, type Pod, type PodStatus } from '@podwright/kube-api';
import { isShutDown } from '../kubecontainer/sync-result.ts';
import { withForeign } from './foreign-conditions.ts';
import { isRefused } from './generate-pod-status.ts';
import { refreshedConditions } from './pod-conditions.ts';
import type { StatusRecord, StatusRecords } from './status-records.ts';
import { withTold } from './told-containers.ts';

/** A pod with its status changed, or is gone. Versions grow by one a change, across all pods. */
export type PodChange = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; pod: Pod; version: number };

/** The statuses of all pods, with a version each, and subscriptions to their changes. */
export class StatusManager {
  /** `isNew`: no sync of the pod has published a status yet. */
  readonly #pods = new Map<string, { pod: Pod; version: number; isNew?: true }>();
  readonly #changes = new Broadcast<PodChange>();
  /** What the sources say of labels and annotations: a sync that began before must not bring the old ones back. */
  readonly #wanted = new Map<string, Pick<ObjectMeta, 'labels' | 'annotations'>>();
  /** Of pods that this kubelet has not seen yet: what the last one published. */
  readonly #kept: Map<string, StatusRecord>;
  readonly #records: Pick<StatusRecords, 'save' | 'delete'> | undefined;
  #version = 0;

  /** `kept` are the records of the kubelet that was here before. */
  constructor(kept = new Map<string, StatusRecord>(), records?: Pick<StatusRecords, 'save' | 'delete'>) {
    this.#kept = kept;
    this.#records = records;
  }

  /** What syncs have published of the pod. */
  get(podUid: string): PodStatus | undefined {
    const known = this.#pods.get(podUid);
    return known?.isNew ? undefined : known?.pod.status;
  }

  /**
   * Shows a pod that no sync has published yet, as it may wait for long: as it was last known, or with why it waits. What syncs have
   * published stays.
   */
  introduce(pod: Pod, status: PodStatus = this.lastKnown(pod) ?? { phase: 'Pending' }): void {
    const known = this.#pods.get(pod.metadata.uid);
    if (known !== undefined && (!known.isNew || isSame(known.pod, pod, status))) return;
    this.#show(pod, status, { isNew: true });
  }

  /**
   * The status of the pod, or what the kubelet that was here before has published of it, with what it and others have said at the API
   * server, or what the API server has of it. A pod that comes back after it was deleted may have the same UID, and begins anew, and so
   * does a static one that ended as its host shut down.
   */
  lastKnown(pod: Pod): PodStatus | undefined {
    const { uid, namespace, name, deletionTimestamp } = pod.metadata;
    const kept = this.#kept.get(uid);
    const wasShutDown = isStaticPod(pod) && isShutDown(kept?.status);
    const isBack = wasShutDown || (kept?.going === true && deletionTimestamp === undefined);
    const isOwn = kept?.namespace === namespace && kept.name === name && !isBack;
    return this.get(uid) ?? (isOwn ? withForeign(withTold(kept.status, pod.status), pod.status) : pod.status);
  }

  /** Takes what others than the kubelet have said of a pod at the API server: its readiness may hang on it. */
  adoptForeign({ metadata, status: told }: Pod): void {
    const now = formatTime(Date.now());
    this.change(metadata.uid, (pod, status) => {
      const adopted = withForeign(status, told);
      return isRefused(status) ? adopted : { ...adopted, conditions: refreshedConditions(pod, adopted, now) };
    });
  }

  /** The pod as users see it: its specification, its status, and its version as `resourceVersion`. */
  pod(podUid: string): Pod | undefined {
    return this.#pods.get(podUid)?.pod;
  }

  pods(): Pod[] {
    return [...this.#pods.values()].map(({ pod }) => pod);
  }

  /** Records a pod and its status. Nothing happens if neither differs from before; returns whether one did. */
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

  /** Changes what is shown of a pod, at once, whatever else is going on with it; not before its first sync. */
  change(podUid: string, change: (pod: Pod, status: PodStatus) => PodStatus): void {
    const [pod, status] = [this.pod(podUid), this.get(podUid)];
    if (pod !== undefined && status !== undefined) this.set(pod, change(pod, status));
  }

  /** The labels and annotations of a pod have changed: they are seen at once, also of a pod that is not synced any more. */
  relabel({ metadata: { uid, labels, annotations } }: Pod): void {
    this.#wanted.set(uid, { labels, annotations });
    const known = this.#pods.get(uid);
    if (known?.isNew)
      this.introduce({ ...known.pod, metadata: { ...known.pod.metadata, labels, annotations } }, known.pod.status);
    else if (known?.pod.status !== undefined) this.set(known.pod, known.pod.status);
  }

  /** Forgets a pod that is gone for good. */
  delete(podUid: string): void {
    this.#wanted.delete(podUid);
    this.#kept.delete(podUid);
    this.#records?.delete(podUid);
    const known = this.#pods.get(podUid);
    if (known === undefined) return;
    this.#pods.delete(podUid);
    this.#changes.publish({ type: 'DELETED', pod: known.pod, version: ++this.#version });
  }

  /** UIDs of the pods that only an earlier kubelet has published anything of, and that nobody knows any more. */
  orphans(isKnown: (podUid: string) => boolean): string[] {
    return [...this.#kept.keys()].filter((uid) => !isKnown(uid));
  }

  /** Changes from this call on, until the signal aborts. */
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

/** JSON has no undefined: statuses that differ in it only are the same. */
function dropUndefined(status: PodStatus): PodStatus {
  return JSON.parse(JSON.stringify(status)) as PodStatus;
}
