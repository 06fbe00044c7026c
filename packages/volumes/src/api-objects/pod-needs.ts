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
import { serviceVariables } from './service-variables.ts';
import { within } from './within.ts';

export type PodNeedsOptions = {
  client: KubeClient;
  nodeName: string;
  startInformer: StartInformer;
  /** The node's own object; undefined before its first read. */
  node: () => Node | undefined;
  /** `configMapAndSecretChangeDetectionStrategy`. */
  changeDetection: 'Watch' | 'Cache' | 'Get';
  logger: Logger;
};

/** Informers for objects that every node watches permanently, besides its own Node and its pods. */
export type NodeInformers = {
  /** Services with a cluster IP. */
  services: Informer<Service>;
  runtimeClasses: Informer<RuntimeClass>;
  csiDrivers: Informer<KubeObject>;
  stop(): void;
};

/** Notified when pods must be synced. */
export type PodNeedsListener = {
  onObject: (change: LocalObjectChange) => void;
  /** Called when a token of the pod was replaced or the size of one of its volumes changed. */
  onNews: (podUid: string) => void;
};

/** All objects of an API server that the node's pods need, except the pods themselves. */
export class PodNeeds {
  readonly tokens: PodTokens;
  readonly #options: PodNeedsOptions;
  readonly #objects: ObjectCache;
  readonly #tokens: ServiceAccountTokens;
  readonly #claims: ClaimLookup;
  #listener: PodNeedsListener | undefined;
  #informers: NodeInformers | undefined;
  #startedAtMs = 0;

  /** Makes no calls before `start`. */
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

  /** Starts the informers that every node has. Call it once. */
  start(listener: PodNeedsListener): NodeInformers {
    this.#listener = listener;
    this.#startedAtMs = performance.now();
    this.#informers = startNodeInformers(this.#options.startInformer);
    return this.#informers;
  }

  /** Absent before `start`. */
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
   * The lookup for each pod's objects: `ofManifests` for pods of manifests, with RuntimeClasses of the API server as a fallback; the API
   * server for all other pods.
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
   * Starts the feeds of the objects that the pod refers to, and waits at most a second for unread objects. Call it before each use; may be
   * repeated.
   */
  async ready(pod: Pod, signal: AbortSignal): Promise<void> {
    const waiting: Promise<void>[] = [this.#informersRead(pod, signal)];
    if (!isStaticPod(pod)) waiting.push(this.#objects.ready(pod, signal));
    await Promise.all(waiting);
  }

  /** Call it when the pod is removed. */
  release(podUid: string): void {
    this.#objects.release(podUid);
    this.#tokens.forgetPod(podUid);
    this.#claims.release(podUid);
  }

  /** Service variables for the pod's containers. Throws `unavailable` for a pod of the API server if the services have not been read. */
  serviceVariables(pod: Pod): ReadonlyMap<string, string> {
    const services = this.#informers?.services;
    if (!isStaticPod(pod) && services?.hasSynced() !== true)
      throw new PodwrightError(
        'unavailable',
        'services have not yet been read at least once, cannot construct envvars',
      );
    const { namespace } = pod.metadata;
    return serviceVariables(services?.list() ?? [], {
      namespace,
      enableServiceLinks: pod.spec.enableServiceLinks ?? true,
    });
  }

  /** The volume that a claim is bound to. Rejects while the claim is not usable yet. */
  volumeOf(pod: Pod, claimName: string, signal: AbortSignal): Promise<BoundVolume> {
    return this.#claims.volumeOf(pod, claimName, signal);
  }

  /** The node's own object; undefined before its first read. */
  node(): Node | undefined {
    return this.#options.node();
  }

  /** The current Node of the API server. Rejects if the API server does not answer in time. */
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

  /** How long objects may be cached. The controller manager publishes this in an annotation of the Node. */
  #ttlMs(): number {
    const { annotations } = this.#options.node()?.metadata ?? {};
    const text = annotations?.['node.alpha.kubernetes.io/ttl'] ?? '';
    return /^\d{1,6}$/.test(text) ? Number(text) * 1000 : OBJECT_TTL_MS;
  }
}

/** Starts the informers, with upstream's selectors. */
function startNodeInformers(startInformer: StartInformer): NodeInformers {
  const informers = {
    services: startInformer<Service>({ resource: SERVICES, fieldSelector: 'spec.clusterIP!=None' }),
    csiDrivers: startInformer<KubeObject>({ resource: CSI_DRIVERS }),
    runtimeClasses: startInformer<RuntimeClass>({ resource: RUNTIME_CLASSES }),
  };
  const all: Informer<KubeObject>[] = Object.values(informers);
  for (const { synced } of all) synced.catch(() => undefined); // stopped before the first list
  return { ...informers, stop: () => all.forEach((informer) => void informer.stop()) };
}
