import { PodwrightError, withTimeout } from '@podwright/base';
import type { KubeMetadata, KubeObject, Resource } from '@podwright/kube-api';
import type {
  CallOptions,
  DeleteOptions,
  KubeClient,
  ListOf,
  ObjectKey,
  PatchType,
  Selection,
  WatchEvent,
  WatchOptions,
} from '../kube-client.ts';
import { WATCH_END_MARGIN_MS } from '../limits.ts';
import type { Calls } from './calls.ts';
import { collectionPath, objectPath, query, selectors, watchQuery } from './paths.ts';

const PATCH_CONTENT_TYPES: Record<PatchType, string> = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
};

/** Requests PartialObjectMetadata; a server that does not support it returns the whole object. */
const METADATA_ALONE = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

type Connection = { reconnect(): void; close(): void };

/** Implements `KubeClient` with one request per call. */
export class ApiClient implements KubeClient {
  readonly #calls: Calls;
  readonly #connection: Connection;

  constructor(calls: Calls, connection: Connection) {
    this.#calls = calls;
    this.#connection = connection;
  }

  async get<T extends KubeObject>(resource: Resource, key: ObjectKey, options?: CallOptions): Promise<T> {
    const what = `get ${shown(resource, key)}`;
    const path = objectPath(resource, key);
    return this.#calls.object({ method: 'GET', path, what }, options);
  }

  async list<T extends KubeObject>(
    resource: Resource,
    selection: Selection & { resourceVersion?: string; limit?: number; continue?: string },
    options?: CallOptions,
  ): Promise<ListOf<T>> {
    const what = `list ${resource.plural}`;
    const { resourceVersion, limit, continue: from } = selection;
    const asked = query({ ...selectors(selection), resourceVersion, limit, continue: from });
    const path = collectionPath(resource, selection.namespace) + asked;
    return this.#calls.list({ method: 'GET', path, what }, resource, options);
  }

  async create<T extends KubeObject>(
    resource: Resource,
    object: KubeObject,
    options: CallOptions & { subresource?: string } = {},
  ): Promise<T> {
    const key = keyOf(object);
    const what = `create ${shown(resource, key, options.subresource)}`;
    const path =
      options.subresource === undefined
        ? collectionPath(resource, resource.namespaced ? key.namespace : undefined)
        : objectPath(resource, key, options.subresource);
    return this.#calls.object({ method: 'POST', path, body: object, what }, options);
  }

  async update<T extends KubeObject>(
    resource: Resource,
    object: KubeObject,
    options: CallOptions & { subresource?: string } = {},
  ): Promise<T> {
    const what = `update ${shown(resource, keyOf(object), options.subresource)}`;
    const path = objectPath(resource, keyOf(object), options.subresource);
    return this.#calls.object({ method: 'PUT', path, body: object, what }, options);
  }

  // biome-ignore lint/complexity/useMaxParams: the parameters of the interface
  async patch<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    { type, body, subresource }: { type: PatchType; body: unknown; subresource?: string },
    options?: CallOptions,
  ): Promise<T> {
    return this.#patch(resource, key, { type, body, subresource }, options);
  }

  // biome-ignore lint/complexity/useMaxParams: the parameters of the interface
  async patchForMetadata(
    resource: Resource,
    key: ObjectKey,
    patch: { type: PatchType; body: unknown; subresource?: string },
    options?: CallOptions,
  ): Promise<KubeMetadata> {
    const { metadata } = await this.#patch(resource, key, { ...patch, accept: METADATA_ALONE }, options);
    return metadata;
  }

  // biome-ignore lint/complexity/useMaxParams: the parameters of the interface
  async delete(resource: Resource, key: ObjectKey, how: DeleteOptions = {}, options: CallOptions = {}): Promise<void> {
    const what = `delete ${shown(resource, key)}`;
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...how };
    await this.#calls.done({ method: 'DELETE', path: objectPath(resource, key), body, what }, options);
  }

  async deleteCollection(resource: Resource, selection: Selection, options?: CallOptions): Promise<void> {
    const what = `delete all ${resource.plural} of a selection`;
    const path = collectionPath(resource, selection.namespace) + query(selectors(selection));
    await this.#calls.done({ method: 'DELETE', path, what }, options);
  }

  async *watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>> {
    const what = `watch ${resource.plural}`;
    const path = collectionPath(resource, options.namespace) + watchQuery(options);
    using bounded = withTimeout(signal, options.timeoutSeconds * 1000 + WATCH_END_MARGIN_MS, what);
    try {
      yield* this.#calls.watch<T>({ method: 'GET', path, what }, options, bounded);
    } catch (error) {
      if (!bounded.aborted) throw error;
    }
  }

  getText(path: string, options?: CallOptions): Promise<string> {
    if (!path.startsWith('/'))
      throw new PodwrightError('invalid_argument', `get ${path}: a path must start with a slash`);
    return this.#calls.text({ method: 'GET', path, what: `get ${path}` }, options);
  }

  reconnect(): void {
    this.#connection.reconnect();
  }

  close(): void {
    this.#connection.close();
  }

  // biome-ignore lint/complexity/useMaxParams: the parameters of `patch`
  async #patch<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    { type, subresource, ...sent }: { type: PatchType; body: unknown; subresource?: string; accept?: string },
    options?: CallOptions,
  ): Promise<T> {
    const what = `patch ${shown(resource, key, subresource)}`;
    const path = objectPath(resource, key, subresource);
    const contentType = PATCH_CONTENT_TYPES[type];
    return this.#calls.object({ method: 'PATCH', path, contentType, what, ...sent }, options);
  }
}

function keyOf({ metadata }: KubeObject): ObjectKey {
  return { namespace: metadata.namespace, name: metadata.name ?? '' };
}

/** Returns an object's name for errors, such as `pods/status shop/web`. */
function shown({ plural }: Resource, { namespace, name }: ObjectKey, subresource?: string): string {
  const kind = subresource === undefined ? plural : `${plural}/${subresource}`;
  const key = [namespace, name].filter((part) => part !== undefined && part !== '').join('/');
  return key === '' ? kind : `${kind} ${key}`;
}
