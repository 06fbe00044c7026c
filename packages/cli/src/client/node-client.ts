import { errorCode } from '@podwright/base';
import type { EphemeralContainer, Event, KubeObject, Pod } from '@podwright/kube-api';
import type { TraceSpan } from '@podwright/kubelet';
import type {
  ApplyOptions,
  ApplyResult,
  EventWatchEvent,
  ImageTransfer,
  NodeInfo,
  PodWatchEvent,
  RestartAnswer,
  StopOptions,
} from '@podwright/node-api';
import {
  type Decoder,
  decodeAnything,
  decodeApplyResult,
  decodeEventChange,
  decodeEvents,
  decodeNode,
  decodePod,
  decodePodChange,
  decodePodNews,
  decodePods,
  decodeRestart,
  decodeSpans,
  decodeTransfer,
} from './answers.ts';
import type { ApiPlace, LocatedObject } from './api-path.ts';
import { isInitialEnd, objectPath, WATCH_FROM_LIST } from './object-client.ts';
import { isNoNode, readValues, UnixHttp } from './unix-http.ts';

export type LogOptions = {
  container?: string;
  /** Selects a particular instance of the container by the `containerID` in its status. */
  containerId?: string;
  follow?: boolean;
  previous?: boolean;
  tailLines?: number;
  sinceSeconds?: number;
  /** An RFC 3339 timestamp. */
  sinceTime?: string;
  limitBytes?: number;
  timestamps?: boolean;
};

/** Returns the API path of a pod. */
export const podPath = (namespace: string, name: string) =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;

const podsPath = (namespace: string | undefined) =>
  namespace === undefined ? '/api/v1/pods' : `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;

const POD_TYPE = { apiVersion: 'v1', kind: 'Pod' } as const;

/** Loads `absent-in-api.ts` lazily, because it is needed only for calls that fail. */
const absence = () => import('./absent-in-api.ts');

const selectName = (name: string) => `metadata.name=${name}`;

/**
 * A change to a watched object. `listed` is sent once, after the initial state; if no object precedes it, the object did not exist then.
 */
export type ObjectNews = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: KubeObject } | { type: 'listed' };

/** Typed client for the API that a node serves on its Unix socket. */
export class NodeClient {
  readonly http: UnixHttp;

  constructor(socketPath: string) {
    this.http = new UnixHttp(socketPath);
  }

  node(signal?: AbortSignal): Promise<NodeInfo> {
    return this.http.json({ method: 'GET', path: '/podwright/v1/node', signal }, decodeNode);
  }

  /** Whether the node has a Kubernetes API; `undefined` if no node is running or if it is accessible only to root. */
  async hasKubernetesApi(): Promise<boolean | undefined> {
    try {
      return (await this.node()).kubernetesApi === true;
    } catch (error) {
      if (isNoNode(error) || errorCode(error) === 'permission_denied') return undefined;
      throw error;
    }
  }

  /** Lists the pods in one namespace, or in all of them. Rejects with `invalid_argument` if the label selector is invalid. */
  async pods({ namespace, labelSelector }: { namespace?: string; labelSelector?: string } = {}): Promise<Pod[]> {
    const call = { method: 'GET', path: podsPath(namespace), query: { labelSelector } } as const;
    const { items } = await this.http.json(call, decodePods);
    return items.map((pod) => ({ ...pod, ...POD_TYPE })); // the items of a Kubernetes API have no kind
  }

  pod(namespace: string, name: string, signal?: AbortSignal): Promise<Pod> {
    const call = { method: 'GET', path: podPath(namespace, name), signal } as const;
    const wanted = { kind: 'Pod', namespace, name };
    return this.http
      .json(call, decodePod)
      .catch(async (error: unknown) => (await absence()).explainAbsent(error, wanted, () => this.pods()));
  }

  async events(): Promise<Event[]> {
    return await this.http.json({ method: 'GET', path: '/api/v1/events' }, decodeEvents);
  }

  /** Yields the existing pods, then `listed`, then all changes. `only` restricts the watch to a single pod. */
  async *watchPods(
    signal: AbortSignal,
    only?: { namespace: string; name: string },
  ): AsyncGenerator<PodWatchEvent | { type: 'listed' }> {
    const query = { ...WATCH_FROM_LIST, fieldSelector: only && selectName(only.name) };
    const response = await this.http.stream({ method: 'GET', path: podsPath(only?.namespace), query, signal });
    yield* readValues(response, decodePodNews, signal);
  }

  /** Watches a single pod. No change is missed after the promise has resolved. */
  async podChanges(
    { namespace, name }: { namespace: string; name: string },
    signal: AbortSignal,
  ): Promise<AsyncGenerator<PodWatchEvent>> {
    const call = { method: 'GET', path: podsPath(namespace), signal } as const;
    const query = { watch: 'true', fieldSelector: selectName(name) };
    return readValues(await this.http.stream({ ...call, query }), decodePodChange, signal);
  }

  /** Yields the existing events, then new ones. `uid` selects the events of a single object. */
  watchEvents(signal: AbortSignal, uid?: string): AsyncGenerator<EventWatchEvent> {
    const about = uid === undefined ? '' : `&fieldSelector=${encodeURIComponent(`involvedObject.uid=${uid}`)}`;
    return this.#lines(`/api/v1/events?watch=true${about}`, decodeEventChange, signal);
  }

  watchTransfers(signal: AbortSignal): AsyncGenerator<ImageTransfer> {
    return this.#lines('/podwright/v1/transfers', decodeTransfer, signal);
  }

  /**
   * Creates or replaces the objects in a manifest. The node changes nothing and only reports what it would do with `dryRun`, or if it would
   * have to replace an existing object and `replace` is not set. With `leaveOutUnknown`, objects whose kind the node's Kubernetes API lacks
   * are skipped, and the others are applied.
   */
  async apply(
    manifest: string,
    { dryRun = false, replace = true, leaveOutUnknown = false }: ApplyOptions = {},
  ): Promise<ApplyResult> {
    const query = {
      dryRun: dryRun ? 'All' : undefined,
      replace: replace ? undefined : 'false',
      unknown: leaveOutUnknown ? 'leave' : undefined,
    };
    const call = { method: 'POST', path: '/podwright/v1/apply', query, body: manifest } as const;
    const result: Partial<ApplyResult> = await this.http.json(call, decodeApplyResult);
    return { objects: [], findings: [], warnings: [], ...result };
  }

  /**
   * Deletes an object. Without a `path`, its kind must be one that every node supports: Pod, ConfigMap, Secret, PersistentVolumeClaim or
   * RuntimeClass. With a `path`, it is an object of a Kubernetes API, which deletes its dependents in the background.
   */
  async delete(
    object: { kind: string; namespace: string; name: string; path?: string },
    gracePeriodSeconds?: number,
  ): Promise<void> {
    const { path = objectPath(object) } = object;
    const propagationPolicy = object.path === undefined ? undefined : 'Background';
    const query = { gracePeriodSeconds: gracePeriodSeconds?.toString(), propagationPolicy };
    const list = async () => (object.kind === 'Pod' ? await this.pods() : []);
    await this.http
      .json({ method: 'DELETE', path, query }, decodeAnything)
      .catch(async (error: unknown) => (await absence()).explainAbsent(error, object, list));
  }

  /** Looks up the paths of objects in the node's Kubernetes API. */
  async locate<Place extends ApiPlace>(objects: readonly Place[], missing?: string[]): Promise<LocatedObject<Place>[]> {
    return (await import('./api-path.ts')).locate(this.http, objects, missing);
  }

  /** Reads an object by its path in the node's Kubernetes API. */
  readObject(path: string): Promise<KubeObject> {
    return this.http.json({ method: 'GET', path }, decodeAnything) as Promise<KubeObject>;
  }

  /** Lists a collection in the node's Kubernetes API. */
  async listObjects(path: string): Promise<KubeObject[]> {
    const { items } = (await this.http.json({ method: 'GET', path }, decodeAnything)) as { items: KubeObject[] };
    return items;
  }

  /** Yields the object at this path in the node's Kubernetes API, if it exists, then `listed`, then its changes. */
  async *watchObject(path: string, signal: AbortSignal): AsyncGenerator<ObjectNews> {
    const slash = path.lastIndexOf('/');
    const query = { ...WATCH_FROM_LIST, fieldSelector: selectName(decodeURIComponent(path.slice(slash + 1))) };
    const response = await this.http.stream({ method: 'GET', path: path.slice(0, slash), query, signal });
    for await (const change of readValues(response, decodeAnything, signal)) {
      const { type, object } = change as { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: KubeObject };
      if (type !== 'BOOKMARK') yield { type, object };
      else if (isInitialEnd(object)) yield { type: 'listed' };
    }
  }

  /** Applies a JSON merge patch to the object at a path in the node's Kubernetes API. */
  async mergeObject(path: string, patch: Record<string, unknown>): Promise<void> {
    const contentType = 'application/merge-patch+json';
    await this.http.json({ method: 'PATCH', path, body: JSON.stringify(patch), contentType }, decodeAnything);
  }

  /** Restarts a pod's containers in place, or only the given one. Does not wait for them to run again. */
  restart(pod: { namespace: string; name: string }, container: string | undefined): Promise<RestartAnswer> {
    const path = podPath(pod.namespace, pod.name).replace('/api/v1/', '/podwright/v1/');
    return this.http.json({ method: 'POST', path: `${path}/restart`, query: { container } }, decodeRestart);
  }

  /** Adds an ephemeral container to a running pod. */
  addEphemeralContainer(
    { namespace, name }: { namespace: string; name: string },
    container: EphemeralContainer,
  ): Promise<Pod> {
    const path = `${podPath(namespace, name)}/ephemeralcontainers`;
    const body = JSON.stringify({ spec: { ephemeralContainers: [container] } });
    const contentType = 'application/strategic-merge-patch+json';
    return this.http.json({ method: 'PATCH', path, body, contentType }, decodePod);
  }

  traces(podUid: string): Promise<TraceSpan[]> {
    return this.http.json({ method: 'GET', path: `/podwright/v1/traces/${encodeURIComponent(podUid)}` }, decodeSpans);
  }

  async log(
    pod: { namespace: string; name: string },
    options: LogOptions,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Buffer>> {
    return this.http.stream({
      method: 'GET',
      path: `${podPath(pod.namespace, pod.name)}/log`,
      query: {
        container: options.container,
        containerID: options.containerId,
        follow: options.follow ? 'true' : undefined,
        previous: options.previous ? 'true' : undefined,
        tailLines: options.tailLines?.toString(),
        sinceSeconds: options.sinceSeconds?.toString(),
        sinceTime: options.sinceTime,
        limitBytes: options.limitBytes?.toString(),
        timestamps: options.timestamps ? 'true' : undefined,
      },
      signal,
    });
  }

  /** Asks the node's daemon to stop. */
  async stop({ removeHostState, endPods, endApiPods, gracePeriodSeconds, restart }: StopOptions): Promise<void> {
    const query = {
      removeHostState: String(removeHostState),
      endPods: String(endPods),
      endApiPods: String(endApiPods === true),
      restart: restart ? 'true' : undefined,
      gracePeriodSeconds: gracePeriodSeconds?.toString(),
    };
    await this.http.json({ method: 'POST', path: '/podwright/v1/stop', query }, decodeAnything);
  }

  async *#lines<T>(path: string, decode: Decoder<T>, signal: AbortSignal): AsyncGenerator<T> {
    yield* readValues(await this.http.stream({ method: 'GET', path, signal }), decode, signal);
  }
}
