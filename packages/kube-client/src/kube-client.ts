import type { KubeMetadata, KubeObject, Resource } from '@podwright/kube-api';

/** Identifies an object of a resource. `namespace` is only for namespaced resources. */
export type ObjectKey = { namespace?: string; name: string };

/** Selects objects of a resource; without `namespace` in all namespaces. */
export type Selection = { namespace?: string; fieldSelector?: string; labelSelector?: string };

export type CallOptions = {
  /** Aborts the call, which then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Deadline of the call including retries. 60 s by default; watches have none. */
  timeoutMs?: number;
};

/** The type of a patch (the Kubernetes API conventions, "Patch"). */
export type PatchType = 'strategic' | 'merge' | 'json';

export type DeleteOptions = {
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
};

export type WatchEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  /** The object has only a `resourceVersion` and, after the initial objects, the annotation `k8s.io/initial-events-end`. */
  | { type: 'BOOKMARK'; object: { metadata: KubeMetadata } };

/** Whether the event is the bookmark after the initial objects. */
export function isInitialEnd<T extends KubeObject>({ type, object }: WatchEvent<T>): boolean {
  return type === 'BOOKMARK' && object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
}

export type WatchOptions = Selection & {
  resourceVersion?: string;
  /** Requests the existing objects first, as ADDED events, and then a bookmark (WatchList). */
  sendInitialEvents?: boolean;
  /** Time after which the server ends the watch. */
  timeoutSeconds: number;
  /** Called once the server has accepted the watch. */
  onOpen?: () => void;
};

export type ListOf<T extends KubeObject> = { metadata: { resourceVersion?: string; continue?: string }; items: T[] };

/**
 * Typed calls of the Kubernetes API, as JSON. An unsuccessful response rejects with `ApiStatusError`, after the same retries as in
 * client-go (429 and 5xx with `Retry-After`). Errors and logs never contain tokens or keys.
 */
export interface KubeClient {
  get<T extends KubeObject>(resource: Resource, place: ObjectKey, options?: CallOptions): Promise<T>;
  list<T extends KubeObject>(
    resource: Resource,
    selection: Selection & { resourceVersion?: string; limit?: number; continue?: string },
    options?: CallOptions,
  ): Promise<ListOf<T>>;
  /** Creates an object, or a subresource such as the `token` of a service account, in which case `name` is the object's name. */
  create<T extends KubeObject>(
    resource: Resource,
    object: KubeObject,
    options?: CallOptions & { subresource?: string },
  ): Promise<T>;
  update<T extends KubeObject>(
    resource: Resource,
    object: KubeObject,
    options?: CallOptions & { subresource?: string },
  ): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource,
    place: ObjectKey,
    patch: { type: PatchType; body: unknown; subresource?: string },
    options?: CallOptions,
  ): Promise<T>;
  /** Like `patch`, but requests only the object's metadata. */
  patchForMetadata(
    resource: Resource,
    place: ObjectKey,
    patch: { type: PatchType; body: unknown; subresource?: string },
    options?: CallOptions,
  ): Promise<KubeMetadata>;
  delete(resource: Resource, place: ObjectKey, how?: DeleteOptions, options?: CallOptions): Promise<void>;
  deleteCollection(resource: Resource, selection: Selection, options?: CallOptions): Promise<void>;
  /**
   * Yields events until the server ends the watch or the signal aborts. Rejects with `ApiStatusError`, also for an ERROR event, and with
   * `unavailable` if the connection is lost.
   */
  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>>;
  /** Returns the body of a response as text, for paths such as `/version` and `/healthz`. */
  getText(path: string, options?: CallOptions): Promise<string>;
  /**
   * Closes all connections, so that later calls open new ones. For use after a change of credentials, or if the server seems unreachable.
   */
  reconnect(): void;
  close(): void;
}
