import type { PodwrightError } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import type { StoredObject } from './stored-object.ts';

/** Identifies an object in the store. */
export type ObjectKey = {
  /** The resource and its API group: `pods` for the core group, `deployments.apps` for any other. */
  resource: string;
  /** Empty for cluster-scoped objects. */
  namespace: string;
  name: string;
};

/**
 * A write in a transaction. `expected` is the revision that the stored object must still have (optimistic locking): the one that the caller
 * read and based the write on. The store takes ownership of `object` and does not copy it.
 */
export type Write =
  | ({ type: 'create'; key: ObjectKey; object: ApiObject } & SpaceOfWrite)
  | ({ type: 'update'; key: ObjectKey; object: ApiObject; expected: number } & SpaceOfWrite)
  | { type: 'delete'; key: ObjectKey; expected: number };

/** The space that a write may use. Without `space`, its size is not limited. */
type SpaceOfWrite = { space?: SpaceClass };

/**
 * How much space a write may use: that for all users, also half of the reserve or the whole reserve, or any space. A write that makes
 * nothing larger is never refused.
 */
export type SpaceClass = 'ordinary' | 'half-reserve' | 'reserve' | 'unbounded';

/** A change of an object. All watches share the event and its encoded object. */
export type StoreEvent = {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The new state. For a deletion, the last state, but with the revision of the deletion. */
  object: StoredObject;
  /** The state before the change; undefined for ADDED. Watches with selectors need it to detect that an object starts or stops matching. */
  previous?: StoredObject;
};

/** Where to continue a list: after this key, in the state as of this revision. Clients receive it as an opaque continue token. */
export type Continuation = { revision: number; after: string };

export type ListOptions = {
  /** List only objects in this namespace. */
  namespace?: string;
  /** List only objects whose value in the named index is equal to `value`. Throws `invalid_argument` if there is no such index. */
  index?: { name: string; value: string };
  /** Maximum number of objects to return. 0, the default, means no limit. */
  limit?: number;
  /** List the state as of this revision rather than the current one. */
  revision?: number;
  /** Continue an earlier list, in the state as of that list's revision. */
  continuation?: Continuation;
};

export type ObjectList = {
  /** The revision of the listed state. A watch that starts from it misses no changes. */
  revision: number;
  /** Sorted by `namespace/name` in byte order, as in etcd. */
  objects: StoredObject[];
  /** The number of remaining objects and how to continue the list; undefined if no objects remain. */
  rest?: { count: number; continuation: Continuation };
};

export type WatchOptions = {
  /** Report changes after this revision, which may be higher than the current one. */
  from: number;
  /** Report only changes in this namespace. */
  namespace?: string;
  /** Ends the watch when it aborts. */
  signal?: AbortSignal;
};

/**
 * The changes of a resource, in order. Each iteration returns the changes since the previous one as a batch. A watch has no buffer of its
 * own; it reads its resource's history. Iteration rejects with `SlowWatcher` if the history has dropped changes that the watch has not read
 * yet. A watch can be iterated only once.
 */
export interface StoreWatch extends AsyncIterable<readonly StoreEvent[]> {
  /**
   * A revision up to which the watch has read all changes. It also advances with changes of other resources. It may be sent in a bookmark
   * once all events read so far have been sent.
   */
  readonly progress: number;
}

/**
 * An API server's objects, with a single revision counter. Each write gets its own revision, which becomes the object's
 * `metadata.resourceVersion`. The store never hands out the same revision twice, even after a crash.
 *
 * All calls are synchronous, so a caller sees no changes by others between two of its `await`s. When a call returns, its write has been
 * recorded, and reads see it; if it throws, nothing has changed. Names are not validated. Writes throw `already_exists`, `not_found`,
 * `aborted` (the object does not have the expected revision), `resource_exhausted` (the disk is full, or `OutOfSpace`) or `unavailable`
 * (the file cannot be written).
 *
 * With a journal that must be synced, a write is durable some time after the call returns. Watches report it once it is durable. A server
 * must wait for `untilDurable` before it sends a response that shows what it has read or written.
 */
export interface ObjectStore {
  /** The revision of the last write. */
  readonly revision: number;
  /** The size of all objects, encoded as JSON. */
  readonly bytes: number;
  get(key: ObjectKey): StoredObject | undefined;
  /**
   * Throws `ExpiredRevision` if the history does not reach back to the requested revision, and `out_of_range` if the revision is in the
   * future.
   */
  list(resource: string, options?: ListOptions): ObjectList;
  create(key: ObjectKey, object: ApiObject): StoredObject;
  update(key: ObjectKey, object: ApiObject, expected: number): StoredObject;
  /** Returns the last state, with the revision of the deletion. */
  delete(key: ObjectKey, expected: number): StoredObject;
  /** Applies all writes in order, or none of them. Throws `invalid_argument` if two writes are for the same object. */
  transaction(writes: readonly Write[]): StoredObject[];
  /** Throws `ExpiredRevision` if the history does not reach back to `from`. */
  watch(resource: string, options: WatchOptions): StoreWatch;
  /**
   * Resolves once all writes so far are durable. Returns undefined if they are. Rejects with `unavailable` if the sync of a write fails: a
   * power failure may then undo the last writes, and all further writes are refused.
   */
  untilDurable(): Promise<void> | undefined;
  /** Closes the store. No other method may be called afterwards. */
  close(): void;
}

/** Computes an object's value in an index. Objects whose value is undefined are not indexed. */
export type IndexValue = (object: ApiObject) => string | undefined;

/** Limits of a resource's history. If one is exceeded, the oldest events are dropped. */
export type HistoryBounds = {
  maxEvents: number;
  /** Maximum total size of the object states that only the history keeps in memory. */
  maxBytes: number;
  /** Older events are dropped at a later write, of any resource. Default: events have no maximum age. */
  maxAgeMs?: number;
};

/** Bounds for the size of the stored objects, encoded as JSON. */
export type SpaceBounds = {
  maxObjectBytes: number;
  /** Maximum size of all objects. The reserve is an eighth of it, in addition. */
  maxBytes: number;
  /** Called when a write is refused; then not again until an eighth of the space has been free. */
  onFull?: (sizes: { bytes: number; maxBytes: number }) => void;
};

export type StoreOptions = {
  /** Index functions by resource and index name. An index is built on first use. */
  indexes?: Readonly<Record<string, Readonly<Record<string, IndexValue>>>>;
  /** Resources whose objects are never written to disk, so they do not survive a restart. */
  volatile?: readonly string[];
  /** Default: 10,000 events, 2 MiB and 5 minutes. */
  history?: HistoryBounds;
  /** Default: no bounds. */
  space?: SpaceBounds;
  /** Called once if a sync fails. All further writes are refused. */
  onSyncFailed?: (error: PodwrightError) => void;
};
