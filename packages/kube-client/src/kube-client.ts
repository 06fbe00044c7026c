import type { KubeMetadata, KubeObject, Resource } from '@podwright/kube-api';

/** Which object of a resource; `namespace` for resources that have namespaces. */
export type ObjectPlace = { namespace?: string; name: string };

/** Which objects of a resource: all namespaces without `namespace`. */
export type Selection = { namespace?: string; fieldSelector?: string; labelSelector?: string };

export type CallOptions = {
  /** Ends the call, which then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** The whole call, with what is repeated of it; 60 s unless given, none for watches. */
  timeoutMs?: number;
};

/** How a patch is to be read (the Kubernetes API conventions, "Patch"). */
export type PatchType = 'strategic' | 'merge' | 'json';

export type DeleteOptions = {
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
};

export type WatchEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  /** `object` has a `resourceVersion` alone, and `k8s.io/initial-events-end` where the first objects are all told. */
  | { type: 'BOOKMARK'; object: { metadata: KubeMetadata } };

/** Whether the objects that there were are all told with it. */
export function isInitialEnd<T extends KubeObject>({ type, object }: WatchEvent<T>): boolean {
  return type === 'BOOKMARK' && object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
}

export type WatchOptions = Selection & {
  resourceVersion?: string;
  /** Tells what there is as ADDED first, then a bookmark (WatchList). */
  sendInitialEvents?: boolean;
  /** When the server is to end the watch. */
  timeoutSeconds: number;
  /** Called once the server has accepted the watch. */
  onOpen?: () => void;
};

export type ListOf<T extends KubeObject> = { metadata: { resourceVersion?: string; continue?: string }; items: T[] };

/**
 * Typed calls of the Kubernetes API, as JSON. An answer that is no success rejects with `ApiStatusError`, after what client-go
 * repeats (429 and 5xx with `Retry-After`) has been repeated. Tokens and keys are never part of errors or logs.
 */
export interface KubeClient {
  get<T extends KubeObject>(resource: Resource, place: ObjectPlace, options?: CallOptions): Promise<T>;
  list<T extends KubeObject>(
    resource: Resource,
    selection: Selection & { resourceVersion?: string; limit?: number; continue?: string },
    options?: CallOptions,
  ): Promise<ListOf<T>>;
  /** Also of a subresource, such as `token` of a service account: `name` is then the object's. */
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
    place: ObjectPlace,
    patch: { type: PatchType; body: unknown; subresource?: string },
    options?: CallOptions,
  ): Promise<T>;
  /** As `patch`, answered with no more than the object's metadata: for those who know the rest. */
  patchForMetadata(
    resource: Resource,
    place: ObjectPlace,
    patch: { type: PatchType; body: unknown; subresource?: string },
    options?: CallOptions,
  ): Promise<KubeMetadata>;
  delete(resource: Resource, place: ObjectPlace, how?: DeleteOptions, options?: CallOptions): Promise<void>;
  deleteCollection(resource: Resource, selection: Selection, options?: CallOptions): Promise<void>;
  /**
   * Events until the server ends the watch, or the signal aborts. Rejects with `ApiStatusError` also for an ERROR event, and with
   * `unavailable` where the connection is lost.
   */
  watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<T>>;
  /** The answer's text: `/version`, `/healthz`. */
  getText(path: string, options?: CallOptions): Promise<string>;
  /** Ends all connections, and opens new ones for what comes: after credentials have changed, or where the server seems gone. */
  reconnect(): void;
  close(): void;
}
