import { background, type Failpoint, follow, ignoreFailure, type Logger } from '@podwright/base';
import { isStaticPod, type KubeObject, namespacedName } from '@podwright/kube-api';
import { type Informer, type Informers, type KubeClient, PODS } from '@podwright/kube-client';
import type { PodSourceListener, PodSources } from '@podwright/pod-config';
import type { PodManager } from '../pod/pod-manager.ts';
import type { PodWorkers } from '../pod/pod-workers.ts';
import { isRefused } from '../status/generate-pod-status.ts';
import type { PodChange, StatusManager } from '../status/status-manager.ts';
import { ApiPodList } from './api-pod-list.ts';
import { MirrorPods } from './mirror-pods.ts';
import { type ShownPod, StatusSync } from './status-sync.ts';

export type ApiPodsOptions = {
  client: KubeClient;
  watched: Informers;
  nodeName: string;
  /** The informer for this node's Node object. */
  node: Informer<KubeObject>;
  manager: PodManager;
  workers: PodWorkers;
  statuses: StatusManager;
  /** Subscribes to the UIDs of pods that have stopped and released their resources. Returns an unsubscribe function. */
  onStopped: (listener: (podUid: string) => void) => () => void;
  logger: Logger;
  failpoint?: Failpoint;
};

/** Connects the kubelet to an API server: watches its pods, reports pod statuses, and maintains mirror pods. */
export class ApiPods {
  readonly #options: ApiPodsOptions;
  readonly #mirrors: MirrorPods;
  readonly #statuses: StatusSync;
  readonly #stop = new AbortController();
  readonly #unsubscribe: () => void;

  /** Starts reporting pod statuses to the API server. */
  constructor(options: ApiPodsOptions) {
    const { client, nodeName, node, manager, workers, statuses, logger, failpoint } = options;
    this.#options = options;
    this.#mirrors = new MirrorPods({
      ...{ client, logger, failpoint },
      node: () => node.get({ name: nodeName }),
      staticPods: () => manager.list().filter(isStaticPod),
      isEnding: (fullName) => workers.list().some(({ pod }) => isStaticPod(pod) && namespacedName(pod) === fullName),
      onMirror: (uid) => this.#statuses.touch(uid),
    });
    this.#statuses = new StatusSync({
      ...{ client, statuses, logger, failpoint },
      shownAs: (uid) => this.#shownAs(uid),
      couldRun: (uid) => workers.mayRun(uid) && !isRefused(statuses.get(uid)),
      isFinished: (uid) => workers.phaseOf(uid) === 'terminated',
    });
    this.#statuses.start();
    this.#unsubscribe = options.onStopped((uid) => this.#statuses.consider(uid));
    background(options.logger, 'deletions of static pods are no longer followed', this.#followEnds());
  }

  /** Starts the local pod sources. Like upstream, starts watching the API server's pods only after the Node object has been read. */
  startSources(listener: PodSourceListener, startLocal: (listener: PodSourceListener) => PodSources): PodSources {
    const local = startLocal({
      ...listener,
      onUpdate: (update) => {
        listener.onUpdate(update);
        this.#mirrors.reconcile();
      },
    });
    const removing = local.ready.then(() => this.#mirrors.allowRemoval());
    ignoreFailure(removing, 'the result contains `local.ready`');
    const read = this.#read(listener);
    ignoreFailure(read, 'the result contains it');
    return {
      ready: Promise.all([local.ready, read]).then(() => undefined),
      errors: () => local.errors(),
      stop: async () => {
        this.#stop.abort();
        await local.stop();
      },
    };
  }

  /** Must be called when the Node object changes, because mirror pods are not created before it has been read. */
  nodeChanged(): void {
    this.#mirrors.reconcile();
  }

  stop(): void {
    this.#stop.abort();
    this.#unsubscribe();
    this.#mirrors.stop();
    this.#statuses.stop();
  }

  async #read({ onUpdate }: PodSourceListener): Promise<void> {
    const { watched, nodeName, node, logger } = this.#options;
    const list = new ApiPodList({
      mirrors: this.#mirrors,
      logger,
      onUpdate: (update) => {
        onUpdate(update);
        for (const { metadata } of update.pods)
          if (metadata.deletionTimestamp !== undefined) this.#statuses.consider(metadata.uid);
      },
    });
    await untilStopped(node.synced, this.#stop.signal);
    let begun = false;
    const pods = watched.start<KubeObject>({
      resource: PODS,
      fieldSelector: `spec.nodeName=${nodeName}`,
      onChange: (change) => begun && list.change(change),
    });
    this.#stop.signal.addEventListener('abort', () => pods.stop(), { once: true });
    await untilStopped(pods.synced, this.#stop.signal);
    begun = true;
    list.begin(pods.list());
    this.#mirrors.begin();
  }

  /** Returns the API object for one of the kubelet's pods: the pod itself or, for a static pod, its mirror pod. */
  #shownAs(podUid: string): ShownPod | undefined {
    const pod = this.#options.manager.get(podUid)?.pod;
    if (pod === undefined) return undefined;
    if (!isStaticPod(pod)) return { pod, isMirror: false };
    const mirror = this.#mirrors.mirrorOf(pod);
    return mirror && { pod: mirror, isMirror: true };
  }

  /** Reconciles mirror pods when a static pod is removed. */
  #followEnds(): Promise<void> {
    const { statuses } = this.#options;
    const reconcile = () => void setImmediate(() => this.#mirrors.reconcile());
    const onValue = ({ type, pod }: PodChange) => {
      if (type === 'DELETED' && isStaticPod(pod)) reconcile();
    };
    const subscribe = (signal: AbortSignal) => statuses.subscribe(signal);
    return follow({ subscribe, onValue, onOverflow: reconcile }, this.#stop.signal);
  }
}

/** Waits for the promise. If the promise rejects after the signal has aborted, the returned promise never settles. */
function untilStopped(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return promise.catch((error: unknown) => {
    if (signal.aborted) return new Promise<never>(() => undefined);
    throw error;
  });
}
