import { PodwrightError } from '@podwright/base';
import {
  type ConfigMap,
  type Event,
  type NodeStatus,
  type ObjectMeta,
  type PersistentVolumeClaim,
  type Pod,
  pathOf,
  type RuntimeClass,
  type Secret,
} from '@podwright/kube-api';
import { type Decoder, unreadable } from './answers.ts';
import { isApiKind, OBJECT_KINDS, type ObjectKind, withGroup } from './object-names.ts';
import { readValues, UnixHttp } from './unix-http.ts';

/** A v1 Node: this machine's or, in a cluster, also another one. `status` is unset until the node's kubelet has written it. */
export type NodeObject = { apiVersion: 'v1'; kind: 'Node'; metadata: ObjectMeta; status?: NodeStatus };

/** Any object that can be listed through the node's API. */
export type ApiObject = Pod | ConfigMap | Secret | PersistentVolumeClaim | RuntimeClass | Event | NodeObject;

/** Selects objects of a kind, in all namespaces unless one is given. The selectors use Kubernetes syntax. */
export type ObjectQuery = { namespace?: string; labelSelector?: string; fieldSelector?: string };

/** A change received from a watch. `listed` is sent once, after the existing objects. */
export type ObjectChange = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: ApiObject } | { type: 'listed' };

/** Resource usage of a container or of the node, as Kubernetes quantities. */
export type Usage = { cpu: string; memory: string };
export type PodUsage = {
  metadata: { name: string; namespace: string };
  containers: { name: string; usage: Usage }[];
};
export type NodeUsage = { metadata: { name: string }; usage: Usage };

/** Patch types, named as in `kubectl patch --type`. */
export type PatchType = 'strategic' | 'merge' | 'json';
export type Subresource = string;

/** Watch parameters that request the existing objects, then a bookmark, then changes. */
export const WATCH_FROM_LIST = {
  watch: 'true',
  sendInitialEvents: 'true',
  resourceVersionMatch: 'NotOlderThan',
  allowWatchBookmarks: 'true',
};

/** Loads `absent-in-api.ts` lazily, because it is needed only for calls that fail. */
const absence = () => import('./absent-in-api.ts');

const METRICS = '/apis/metrics.k8s.io/v1beta1';

/** A client for the objects in a node's API, which uses the same paths as Kubernetes. */
export class ObjectClient {
  readonly #http: UnixHttp;

  constructor(socketPath: string) {
    this.#http = new UnixHttp(socketPath);
  }

  async list(kind: ObjectKind, query: ObjectQuery = {}, signal?: AbortSignal): Promise<ApiObject[]> {
    const { namespace, ...selectors } = query;
    const path = pathOf(withGroup(kind), { namespace });
    return (await this.#http.json({ method: 'GET', path, query: selectors, signal }, decodeItems<ApiObject>)).items;
  }

  /**
   * Gets an object. Rejects with `not_found` if it does not exist; the message then lists the namespaces that have an object with this
   * name.
   */
  get(kind: ObjectKind, name: string, namespace: string): Promise<ApiObject> {
    const answer = this.#http.json({ method: 'GET', path: pathOfKind(kind, namespace, name) }, decodeApiObject);
    if (isApiKind(kind)) return answer;
    const wanted = { kind: kind.kind, namespace: kind.namespaced ? namespace : '', name };
    return answer.catch(async (error: unknown) =>
      (await absence()).explainAbsent(error, wanted, () => this.list(kind)),
    );
  }

  /** Watches objects. Ends without an error when the signal aborts; rejects with `unavailable` if the node stops. */
  async *watch(kind: ObjectKind, query: ObjectQuery, signal: AbortSignal): AsyncGenerator<ObjectChange> {
    const { namespace, ...selectors } = query;
    const path = pathOf(withGroup(kind), { namespace });
    const parameters = { ...selectors, ...WATCH_FROM_LIST };
    try {
      const response = await this.#http.stream({ method: 'GET', path, query: parameters, signal });
      for await (const change of readValues(response, decodeChange, signal)) if (change !== undefined) yield change;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (!signal.aborted) throw new PodwrightError('unavailable', 'the node has stopped; the watch has ended');
  }

  /** Sends a merge patch for labels and annotations. A null value removes the label or annotation. */
  patch(
    kind: ObjectKind,
    { metadata }: ApiObject,
    patch: { labels?: Record<string, string | null>; annotations?: Record<string, string | null> },
  ): Promise<ApiObject> {
    return this.sendPatch(kind, metadata, { type: 'merge', body: JSON.stringify({ metadata: patch }) });
  }

  /** Patches an object, or its `status` or `resize` subresource. */
  sendPatch(
    kind: ObjectKind,
    { namespace, name }: { namespace: string; name: string },
    { type, body, subresource }: { type: PatchType; body: string; subresource?: Subresource },
  ): Promise<ApiObject> {
    const path = pathOfKind(kind, namespace, name) + (subresource === undefined ? '' : `/${subresource}`);
    const contentType = `application/${type === 'strategic' ? 'strategic-merge' : type}-patch+json`;
    return this.#http.json({ method: 'PATCH', path, body, contentType }, decodeApiObject);
  }

  async podUsage({ namespace, labelSelector }: ObjectQuery, signal?: AbortSignal): Promise<PodUsage[]> {
    const path =
      namespace === undefined ? `${METRICS}/pods` : `${METRICS}/namespaces/${encodeURIComponent(namespace)}/pods`;
    return (await this.#http.json({ method: 'GET', path, query: { labelSelector }, signal }, decodeItems<PodUsage>))
      .items;
  }

  async nodeUsage(signal?: AbortSignal): Promise<NodeUsage[]> {
    return (await this.#http.json({ method: 'GET', path: `${METRICS}/nodes`, signal }, decodeItems<NodeUsage>)).items;
  }
}

/** Returns the API path of an object. For cluster-scoped kinds, the namespace is empty. */
export function objectPath({ kind, namespace, name }: { kind: string; namespace: string; name: string }): string {
  const known = OBJECT_KINDS.find((one) => one.kind === kind);
  if (known === undefined || kind === 'Image')
    throw new PodwrightError('invalid_argument', `the node's API has no ${kind}`);
  return pathOfKind(known, namespace, name);
}

const pathOfKind = (kind: ObjectKind, namespace: string, name: string): string =>
  pathOf(withGroup(kind), { namespace, name });

/** Decodes a list. Sets the kind of its items, which Kubernetes APIs omit. */
function decodeItems<T extends { metadata: { name: string } }>(value: unknown): { items: T[] } {
  const { apiVersion, kind, items } = (value ?? {}) as { apiVersion?: unknown; kind?: unknown; items?: unknown };
  if (!Array.isArray(items)) throw unreadable('items is no list');
  const type = typeof kind === 'string' ? { apiVersion, kind: kind.replace(/List$/, '') } : {};
  return { items: items.map((item) => withMetadata<T>({ ...type, ...item })) };
}

const decodeApiObject: Decoder<ApiObject> = (value) => withMetadata<ApiObject>(value);

/** Decodes a watch event. Returns `undefined` for bookmarks other than the one that ends the initial list. */
function decodeChange(value: unknown): ObjectChange | undefined {
  const { type, object } = (value ?? {}) as { type?: unknown; object?: unknown };
  if (type === 'BOOKMARK') return isInitialEnd(object) ? { type: 'listed' } : undefined;
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') throw unreadable(`a change "${String(type)}"`);
  return { type, object: withMetadata<ApiObject>(object) };
}

/** Whether a bookmark's object marks the end of the initial list. */
export function isInitialEnd(object: unknown): boolean {
  const { metadata } = (object ?? {}) as { metadata?: { annotations?: Record<string, unknown> } };
  return metadata?.annotations?.['k8s.io/initial-events-end'] === 'true';
}

/** Decodes an object. Checks only that it has a name, which every command reads. Like kubectl, drops `managedFields`. */
function withMetadata<T>(value: unknown): T {
  const object = (value ?? {}) as { metadata?: { name?: unknown; managedFields?: unknown } };
  if (typeof object.metadata?.name !== 'string') throw unreadable('an object without a name');
  const { managedFields, ...metadata } = object.metadata;
  return (managedFields === undefined ? object : { ...object, metadata }) as T;
}
