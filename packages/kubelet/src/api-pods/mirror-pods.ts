/** Maintains mirror pods, which represent static pods at the API server (pkg/kubelet/pod: mirror client). */
import { Backoff, background, errorMessage, type Failpoint, type Logger, noFailpoint } from '@podwright/base';
import {
  CONFIG_CONTENT_ANNOTATION,
  CONFIG_FILE_ANNOTATION,
  CONFIG_HASH_ANNOTATION,
  CONFIG_MIRROR_ANNOTATION,
  type KubeObject,
  namespacedName,
  type Pod,
} from '@podwright/kube-api';
import { isApiStatus, type KubeClient, PODS } from '@podwright/kube-client';
import type { MirrorListener } from './api-pod-list.ts';
import { decodeApiPod } from './decode-api-pod.ts';
import { MIRROR_BACKOFF } from './limits.ts';

export type MirrorPodsOptions = {
  client: KubeClient;
  /** The Node object, which owns the mirror pods; `undefined` until it has been read. */
  node: () => KubeObject | undefined;
  /** The desired static pods. */
  staticPods: () => Pod[];
  /** Whether a removed static pod with this full name is still terminating. */
  isEnding: (fullName: string) => boolean;
  /** Called when a static pod's mirror pod has been created or replaced at the API server. */
  onMirror: (podUid: string) => void;
  logger: Logger;
  /** Test hook, called at the stages `mirror/deleted` and `mirror/created`. */
  failpoint?: Failpoint;
};

/** Creates and deletes mirror pods, one change at a time. Failed changes are retried with exponential backoff. */
export class MirrorPods implements MirrorListener {
  readonly #options: MirrorPodsOptions;
  readonly #mirrors = new Map<string, Pod>();
  readonly #backoff = new Backoff(MIRROR_BACKOFF);
  readonly #stop = new AbortController();
  #ready = false;
  #mayRemove = false;
  #pending = false;
  #running = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MirrorPodsOptions) {
    this.#options = options;
  }

  mirrorOf(pod: Pod): Pod | undefined {
    return this.#mirrors.get(namespacedName(pod));
  }

  /** Must be called for each mirror pod that the API server reports. */
  set(mirror: Pod): void {
    const fullName = namespacedName(mirror);
    const before = this.#mirrors.get(fullName);
    this.#mirrors.set(fullName, mirror);
    const pod = this.#staticPod(fullName);
    if (pod !== undefined && before?.metadata.uid !== mirror.metadata.uid) this.#options.onMirror(pod.metadata.uid);
    this.reconcile();
  }

  delete(mirror: Pod): void {
    const fullName = namespacedName(mirror);
    if (this.#mirrors.get(fullName)?.metadata.uid === mirror.metadata.uid) this.#mirrors.delete(fullName);
    this.reconcile();
  }

  /** Must be called once all of the API server's mirror pods are known. Mirror pods are not created or removed before that. */
  begin(): void {
    this.#ready = true;
    this.reconcile();
  }

  /** Must be called once the manifests have been read. Until then, mirror pods without a static pod are not removed. */
  allowRemoval(): void {
    this.#mayRemove = true;
    this.reconcile();
  }

  /** Starts reconciling mirror pods with static pods. */
  reconcile(): void {
    this.#pending = true;
    clearTimeout(this.#timer);
    if (!this.#ready || this.#running || this.#stop.signal.aborted) return;
    this.#running = true;
    background(this.#options.logger, 'mirror pods are no longer updated', this.#run());
  }

  stop(): void {
    this.#stop.abort(new Error('the kubelet stops'));
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    let failed = false;
    // back off after a failure, even if another change is pending
    while (this.#pending && !failed && !this.#stop.signal.aborted) {
      this.#pending = false;
      const names = new Set([...this.#mirrors.keys(), ...this.#options.staticPods().map(namespacedName)]);
      for (const name of names) if (!(await this.#settled(name))) failed = true;
    }
    this.#running = false;
    if (!failed) this.#backoff.forget('');
    else if (!this.#stop.signal.aborted) this.#timer = setTimeout(() => this.reconcile(), this.#backoff.next(''));
  }

  /** Returns true if the mirror pod with this name needs no retry: it is up to date, or retrying is pointless until something changes. */
  async #settled(fullName: string): Promise<boolean> {
    try {
      return await this.#step(fullName);
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.#options.logger.warn(
          { pod: fullName, error: errorMessage(error) },
          'the mirror of a static pod could not be updated',
        );
      return false;
    }
  }

  async #step(fullName: string): Promise<boolean> {
    const pod = this.#staticPod(fullName);
    const mirror = this.#mirrors.get(fullName);
    if (pod === undefined) {
      if (mirror !== undefined && this.#mayRemove && !this.#options.isEnding(fullName)) await this.#remove(mirror);
      return true;
    }
    if (mirror !== undefined && isMirrorOf(mirror, pod)) return true;
    if (mirror !== undefined) await this.#remove(mirror);
    return await this.#create(pod);
  }

  async #remove(mirror: Pod): Promise<void> {
    const { namespace, name, uid } = mirror.metadata;
    const { client, failpoint = noFailpoint } = this.#options;
    const { signal } = this.#stop;
    try {
      await client.delete(PODS, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } }, { signal });
    } catch (error) {
      if (!isApiStatus(error, 404) && !isApiStatus(error, 409)) throw error;
    }
    if (this.#mirrors.get(namespacedName(mirror)) === mirror) this.#mirrors.delete(namespacedName(mirror));
    await failpoint('mirror/deleted');
  }

  async #create(pod: Pod): Promise<boolean> {
    const { client, node, failpoint = noFailpoint } = this.#options;
    const owner = node();
    if (owner?.metadata.uid === undefined || owner.metadata.deletionTimestamp !== undefined) return false;
    const made = await client.create<KubeObject>(PODS, mirrorPod(pod, owner), { signal: this.#stop.signal });
    await failpoint('mirror/created');
    const decoded = decodeApiPod(made, Date.now());
    if (decoded.kind !== 'pod') return true;
    this.set(decoded.pod);
    return isMirrorOf(decoded.pod, pod);
  }

  #staticPod(fullName: string): Pod | undefined {
    return this.#options.staticPods().find((pod) => namespacedName(pod) === fullName);
  }
}

/** Builds a static pod's mirror pod: a copy with the hash annotation, owned by the Node object. Pure. */
export function mirrorPod({ metadata, spec }: Pod, node: KubeObject): KubeObject & { spec: Pod['spec'] } {
  const { uid: _, resourceVersion: __, annotations = {}, ...rest } = metadata;
  const { [CONFIG_FILE_ANNOTATION]: ___, [CONFIG_CONTENT_ANNOTATION]: hash = '', ...shown } = annotations;
  const { name = '', uid = '' } = node.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...rest,
      annotations: { ...shown, [CONFIG_MIRROR_ANNOTATION]: hash },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid, controller: true }],
    },
    spec,
  };
}

/**
 * Whether the mirror pod is up to date for the static pod. Compares the hash annotation, which contains the UID, in addition to the mirror
 * annotation, because earlier versions of this kubelet stored a different value in the hash annotation.
 */
function isMirrorOf({ metadata }: Pod, pod: Pod): boolean {
  const { annotations: shown = {}, deletionTimestamp } = metadata;
  const { annotations = {} } = pod.metadata;
  return (
    deletionTimestamp === undefined &&
    shown[CONFIG_MIRROR_ANNOTATION] === annotations[CONFIG_CONTENT_ANNOTATION] &&
    shown[CONFIG_HASH_ANNOTATION] === annotations[CONFIG_HASH_ANNOTATION]
  );
}
