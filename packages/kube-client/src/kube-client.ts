import type { KubeMetadata, KubeObject, Resource } from '@podwright/kube-api';

/** Identifies an object of a resource; `namespace` is for namespaced resources. */
export type ObjectKey = { namespace?: string; name: string };

/** Selects objects of a resource; without `namespace` in all namespaces. */
export type Selection = { namespace?: string; fieldSelector?: string; labelSelector?: string };

export type CallOptions = {
  /** Aborts the call, which then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Deadline of the call including retries. Default 60 s; none for watches. */
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
  /** `object` has only a `resourceVersion`, and the annotation `k8s.io/initial-events-end` after the initial objects. */
  | { type: 'BOOKMARK'; object: { metadata: KubeMetadata } };

/** Whether the event marks the end of the initial objects. */
export function isInitialEnd<T extends KubeObject>({ type, object }: WatchEvent<T>): boolean {
  return type === 'BOOKMARK' && object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
}

export type WatchOptions = Selection & {
  resourceVersion?: string;
  /** Sends the existing objects as ADDED first, and then a bookmark (WatchList). */
  sendInitialEvents?: boolean;
  /** Time after which the server should end the watch. */
  timeoutSeconds: number;
  /** Called once the server has accepted the watch. */
  onOpen?: () => void;
};

export type ListOf<T extends KubeObject> = { metadata: { resourceVersion?: string; continue?: string }; items: T[] };

/**
 * Typed calls of the Kubernetes API, as JSON. A response other than success rejects with `ApiStatusError`, after the retries that client-go
 * would make (429 and 5xx with `Retry-After`). Errors and logs never contain tokens or keys.
 */
export interface KubeClient {
  get<T extends KubeObject>(resource: Resource, place: ObjectKey, options?: CallOptions): Promise<T>;
  list<T extends KubeObject>(
    resource: Resource,
    selection: Selection & { resourceVersion?: string; limit?: number; continue?: string },
    options?: CallOptions,
  ): Promise<ListOf<T>>;
  /** Also creates a subresource, such as `token` of a service account; then `name` is that of the object. */
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
  /** Like `patch`, but the response contains the object's metadata only. */
  patchForMetadata(
    resource: Resource,
    place: ObjectKey,
    patch: { type: PatchType; body: unknown; subresource?: string },
    options?: CallOptions,
  ): Promise<KubeMetadata>;
  delete(resource: Resource, place: ObjectKey, how?: DeleteOptions, options?: CallOptions): Promise<void>;
  deleteCollection(resource: Resource, selection: Selection, options?: CallOptions): Promise<void>;
  /**
   * Yields events until the server ends the watch or the signal aborts. Rejects with `ApiStatusError`, including for an ERROR event, and
   * with `unavailable` if the connection is lost.
   */
  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>>;
  /** The body of a response as text, for paths such as `/version` and `/healthz`. */
  getText(path: string, options?: CallOptions): Promise<string>;
  /** Closes all connections, so that later calls open new ones: after a change of credentials, or if the server seems unreachable. */
  reconnect(): void;
  close(): void;
}
