import { type Logger, PodwrightError } from '@podwright/base';
import {
  type BoundVolume,
  isStaticPod,
  type KubeObject,
  type LocalObjectChange,
  type LocalObjectKind,
  type LocalObjectOf,
  type Node,
  type ObjectLookup,
  type Pod,
  type PodObjects,
  type RuntimeClass,
  type Service,
} from '@podwright/kube-api';
import { CSI_DRIVERS, type Informer, type KubeClient, NODES, RUNTIME_CLASSES, SERVICES } from '@podwright/kube-client';
import type { PodTokens } from '../volumes/payload.ts';
import { ClaimLookup } from './claim-lookup.ts';
import { NODE_READ_TIMEOUT_MS, OBJECT_READ_WAIT_MS, OBJECT_TTL_MS } from './limits.ts';
import { ObjectCache } from './object-cache.ts';
import { fetchObjects, type StartInformer, watchObjects } from './object-feeds.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';
import { type PodAccess, reachableServices, serviceVariables } from './service-variables.ts';
import { within } from './within.ts';

export type PodNeedsOptions = {
  client: KubeClient;
  nodeName: string;
  startInformer: StartInformer;
  /** Returns this node's Node object; `undefined` until it has been read. */
  node: () => Node | undefined;
  /** The value of `configMapAndSecretChangeDetectionStrategy`. */
  changeDetection: 'Watch' | 'Cache' | 'Get';
  /** How pods reach the API server, if not through the Service `kubernetes`. */
  podAccess?: PodAccess;
  logger: Logger;
};

/** Informers for the objects watched permanently by every node, in addition to its Node and its pods. */
export type NodeInformers = {
  /** Services with a cluster IP. */
  services: Informer<Service>;
  runtimeClasses: Informer<RuntimeClass>;
  csiDrivers: Informer<KubeObject>;
  stop(): void;
};

/** Callbacks for changes that require pods to be synced. */
export type PodNeedsListener = {
  onObject: (change: LocalObjectChange) => void;
  /** Called with the pod's UID when one of its tokens has been replaced or one of its volumes has changed in size. */
  onNews: (podUid: string) => void;
};

/** All API server objects required by the node's pods, except the pods themselves. */
export class PodNeeds {
  readonly tokens: PodTokens;
  readonly #options: PodNeedsOptions;
  readonly #objects: ObjectCache;
  readonly #tokens: ServiceAccountTokens;
  readonly #claims: ClaimLookup;
  #listener: PodNeedsListener | undefined;
  #informers: NodeInformers | undefined;
  #startedAtMs = 0;

  /** The constructor makes no API calls; the first ones are made by `start`. */
  constructor(options: PodNeedsOptions) {
    const { client, logger, changeDetection, startInformer } = options;
    this.#options = options;
    const ttlMs = changeDetection === 'Get' ? () => 0 : () => this.#ttlMs();
    this.#objects = new ObjectCache({
      feed: changeDetection === 'Watch' ? watchObjects(startInformer) : fetchObjects(client, ttlMs),
      onChange: (change) => this.#listener?.onObject(change),
    });
    this.#tokens = new ServiceAccountTokens({ client, logger, onRefresh: (uid) => this.#listener?.onNews(uid) });
    this.tokens = this.#tokens;
    this.#claims = new ClaimLookup({ client, logger, onSize: (uid) => this.#listener?.onNews(uid) });
  }

  /** Starts the informers required by every node. Must be called only once. */
  start(listener: PodNeedsListener): NodeInformers {
    this.#listener = listener;
    this.#startedAtMs = performance.now();
    this.#informers = startNodeInformers(this.#options.startInformer);
    return this.#informers;
  }

  /** The CSIDriver informer; `undefined` before `start`. */
  get csiDrivers(): NodeInformers['csiDrivers'] | undefined {
    return this.#informers?.csiDrivers;
  }

  stop(): void {
    this.#listener = undefined;
    this.#objects.stop();
    this.#tokens.stop();
    this.#informers?.stop();
  }

  /**
   * Returns the object lookup to use for each pod: for pods from manifests, `ofManifests`, with the API server as the fallback for
   * RuntimeClasses; for all other pods, the API server.
   */
  objects(ofManifests: ObjectLookup): PodObjects {
    const ofCluster: ObjectLookup = { get: (...place) => this.#get(...place) };
    const ofBoth: ObjectLookup = {
      get: (kind, namespace, name) =>
        ofManifests.get(kind, namespace, name) ??
        (kind === 'RuntimeClass' ? ofCluster.get(kind, namespace, name) : undefined),
    };
    return { of: (pod) => (isStaticPod(pod) ? ofBoth : ofCluster) };
  }

  /**
   * Starts the feeds of the objects referenced by the pod, and waits up to a second for those not read yet. Must be called before each use;
   * idempotent.
   */
  async ready(pod: Pod, signal: AbortSignal): Promise<void> {
    const waiting: Promise<void>[] = [this.#informersRead(pod, signal)];
    if (!isStaticPod(pod)) waiting.push(this.#objects.ready(pod, signal));
    await Promise.all(waiting);
  }

  /** Drops everything cached for a pod. Must be called when the pod is removed. */
  release(podUid: string): void {
    this.#objects.release(podUid);
    this.#tokens.forgetPod(podUid);
    this.#claims.release(podUid);
  }

  /**
   * Returns the service environment variables for the pod's containers. For pods from the API server, throws `unavailable` if services have
   * not been read yet.
   */
  serviceVariables(pod: Pod): ReadonlyMap<string, string> {
    const services = this.#informers?.services;
    if (!isStaticPod(pod) && services?.hasSynced() !== true)
      throw new PodwrightError(
        'unavailable',
        'services have not yet been read at least once, cannot construct envvars',
      );
    const { namespace } = pod.metadata;
    return serviceVariables(reachableServices(services?.list() ?? [], this.#options.podAccess), {
      namespace,
      enableServiceLinks: pod.spec.enableServiceLinks ?? true,
    });
  }

  /** Returns the volume that a claim is bound to. Rejects as long as the claim is not usable. */
  volumeOf(pod: Pod, claimName: string, signal: AbortSignal): Promise<BoundVolume> {
    return this.#claims.volumeOf(pod, claimName, signal);
  }

  /** Returns this node's Node object; `undefined` until it has been read. */
  node(): Node | undefined {
    return this.#options.node();
  }

  /** Reads the current version of this node's Node object from the API server. Rejects if the API server does not respond in time. */
  readNode(): Promise<Node> {
    const { client, nodeName: name } = this.#options;
    return client.get<Node>(NODES, { name }, { timeoutMs: NODE_READ_TIMEOUT_MS });
  }

  #get<K extends LocalObjectKind>(kind: K, namespace: string, name: string): LocalObjectOf<K> | undefined {
    if (kind === 'ConfigMap' || kind === 'Secret')
      return this.#objects.get(kind, namespace, name) as LocalObjectOf<K> | undefined;
    if (kind !== 'RuntimeClass') return undefined;
    const classes = this.#informers?.runtimeClasses;
    if (classes?.hasSynced() !== true)
      throw new PodwrightError('unavailable', `failed to lookup RuntimeClass ${name}: none has been read yet`);
    return classes.get({ name }) as LocalObjectOf<K> | undefined;
  }

  #informersRead({ spec }: Pod, signal: AbortSignal): Promise<void> {
    const leftMs = this.#startedAtMs + OBJECT_READ_WAIT_MS - performance.now();
    if (this.#informers === undefined || leftMs <= 0) return Promise.resolve();
    const { services, runtimeClasses } = this.#informers;
    const wanted = [services, ...((spec.runtimeClassName ?? '') === '' ? [] : [runtimeClasses])];
    const unread = wanted.filter((informer) => !informer.hasSynced());
    if (unread.length === 0) return Promise.resolve();
    return within(Promise.allSettled(unread.map(({ synced }) => synced)), leftMs, signal);
  }

  /** Returns how long objects may be cached, as published by the controller manager in a Node annotation. */
  #ttlMs(): number {
    const { annotations } = this.#options.node()?.metadata ?? {};
    const text = annotations?.['node.alpha.kubernetes.io/ttl'] ?? '';
    return /^\d{1,6}$/.test(text) ? Number(text) * 1000 : OBJECT_TTL_MS;
  }
}

/** Starts the informers required by every node, with the same selectors as upstream's kubelet. */
function startNodeInformers(startInformer: StartInformer): NodeInformers {
  const informers = {
    services: startInformer<Service>({ resource: SERVICES, fieldSelector: 'spec.clusterIP!=None' }),
    csiDrivers: startInformer<KubeObject>({ resource: CSI_DRIVERS }),
    runtimeClasses: startInformer<RuntimeClass>({ resource: RUNTIME_CLASSES }),
  };
  const all: Informer<KubeObject>[] = Object.values(informers);
  for (const { synced } of all) synced.catch(() => undefined); // the informer was stopped before its first list
  return { ...informers, stop: () => all.forEach((informer) => void informer.stop()) };
}
