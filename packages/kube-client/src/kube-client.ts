import type { KubeMetadata, KubeObject, Resource } from '@podwright/kube-api';

/** Identifies an object of a resource. `namespace` is set only for namespaced resources. */
export type ObjectKey = { namespace?: string; name: string };

/** Selects objects of a resource, across all namespaces if `namespace` is unset. */
export type Selection = { namespace?: string; fieldSelector?: string; labelSelector?: string };

export type CallOptions = {
  /** Aborts the call, which then rejects with the signal's abort reason. */
  signal?: AbortSignal;
  /** Deadline for the call, including retries. Default: 60 seconds; none for watches. */
  timeoutMs?: number;
};

/** The patch type (Kubernetes API conventions, "Patch"). */
export type PatchType = 'strategic' | 'merge' | 'json';

export type DeleteOptions = {
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
};

export type WatchEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  /**
   * The bookmark's object contains only a `resourceVersion` and, if it marks the end of the initial objects, the annotation
   * `k8s.io/initial-events-end`.
   */
  | { type: 'BOOKMARK'; object: { metadata: KubeMetadata } };

/** Whether the event is the bookmark that marks the end of the initial objects. */
export function isInitialEnd<T extends KubeObject>({ type, object }: WatchEvent<T>): boolean {
  return type === 'BOOKMARK' && object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
}

export type WatchOptions = Selection & {
  resourceVersion?: string;
  /** Requests the existing objects first, as ADDED events followed by a bookmark (WatchList). */
  sendInitialEvents?: boolean;
  /** Time after which the server closes the watch. */
  timeoutSeconds: number;
  /** Called once the server has accepted the watch. */
  onOpen?: () => void;
};

export type ListOf<T extends KubeObject> = { metadata: { resourceVersion?: string; continue?: string }; items: T[] };

/**
 * A typed client for the Kubernetes API, using JSON. Unsuccessful responses reject with `ApiStatusError`, after the same retries as in
 * client-go (429 and 5xx with `Retry-After`). Errors and logs never contain tokens or keys.
 */
export interface KubeClient {
  get<T extends KubeObject>(resource: Resource, place: ObjectKey, options?: CallOptions): Promise<T>;
  list<T extends KubeObject>(
    resource: Resource,
    selection: Selection & { resourceVersion?: string; limit?: number; continue?: string },
    options?: CallOptions,
  ): Promise<ListOf<T>>;
  /** Creates an object or a subresource, such as a service account's `token`. For a subresource, `name` is the parent object's name. */
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
   * Yields events until the server closes the watch or the signal aborts. Rejects with `ApiStatusError` for an unsuccessful response or an
   * ERROR event, and with `unavailable` if the connection is lost.
   */
  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>>;
  /** Returns a response body as text, for paths such as `/version` and `/healthz`. */
  getText(path: string, options?: CallOptions): Promise<string>;
  /** Closes all connections, so that later calls open new ones. For use when credentials have changed or the server seems unreachable. */
  reconnect(): void;
  close(): void;
}
