import type { PodwrightError } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import type { StoredObject } from './stored-object.ts';

/** Identifies an object in the store. */
export type ObjectKey = {
  /** The resource, with its API group unless it is in the core group: `pods`, `deployments.apps`. */
  resource: string;
  /** The object's namespace; empty for cluster-scoped objects. */
  namespace: string;
  name: string;
};

/**
 * A write in a transaction. `expected` is the revision that the stored object must still have (optimistic locking): the one the caller read
 * and based its write on. The store takes ownership of `object` without copying it.
 */
export type Write =
  | ({ type: 'create'; key: ObjectKey; object: ApiObject } & SpaceOfWrite)
  | ({ type: 'update'; key: ObjectKey; object: ApiObject; expected: number } & SpaceOfWrite)
  | { type: 'delete'; key: ObjectKey; expected: number };

/** The space class of a write. If unset, the size is unlimited. */
type SpaceOfWrite = { space?: SpaceClass };

/**
 * How much space a write may use: the ordinary space for all users, additionally half of the reserve or the entire reserve, or unlimited
 * space. Writes that do not increase the size are always allowed.
 */
export type SpaceClass = 'ordinary' | 'half-reserve' | 'reserve' | 'unbounded';

/** A change to an object. All watches share the event and its encoded object. */
export type StoreEvent = {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The new state. For deletions, the last state with the revision of the deletion. */
  object: StoredObject;
  /** The previous state, undefined for ADDED. Watches with selectors need it to detect when an object starts or stops matching. */
  previous?: StoredObject;
};

/** Where to continue a list: after this key, at this revision. Sent to clients as an opaque continue token. */
export type Continuation = { revision: number; after: string };

export type ListOptions = {
  /** List only objects in this namespace. */
  namespace?: string;
  /** List only objects with this value in the named index. Throws `invalid_argument` if the index does not exist. */
  index?: { name: string; value: string };
  /** Maximum number of objects to return. Default: 0, which means no limit. */
  limit?: number;
  /** List the objects as of this revision instead of the current one. */
  revision?: number;
  /** Continue a previous list at its revision. */
  continuation?: Continuation;
};

export type ObjectList = {
  /** The revision of the listed state. A watch starting from it misses no changes. */
  revision: number;
  /** The listed objects, sorted by `namespace/name` in byte order, as in etcd. */
  objects: StoredObject[];
  /** The number of remaining objects and where to continue the list. Undefined if there are none. */
  rest?: { count: number; continuation: Continuation };
};

export type WatchOptions = {
  /** Report changes after this revision, which may be in the future. */
  from: number;
  /** Report only changes in this namespace. */
  namespace?: string;
  /** Signal whose abort ends the watch. */
  signal?: AbortSignal;
};

/**
 * The changes of a resource, in order. Each iteration returns the changes since the last one as a batch. A watch has no buffer of its own
 * but reads from its resource's history. Iteration rejects with `SlowWatcher` if the history has dropped changes that the watch has not
 * read yet. Can only be iterated once.
 */
export interface StoreWatch extends AsyncIterable<readonly StoreEvent[]> {
  /**
   * A revision up to which the watch has read all changes. Also advances with changes to other resources. May be sent in a bookmark once
   * all events read so far have been sent.
   */
  readonly progress: number;
}

/**
 * An API server's objects, with a single revision counter. Each write gets a new revision, which becomes the object's
 * `metadata.resourceVersion`. Revisions are never reused, even after a crash.
 *
 * All calls are synchronous, so callers see no concurrent changes between two `await`s. When a call returns, its write has been recorded
 * and is visible to reads. If it throws, nothing has changed. Names are not validated. Writes throw `already_exists`, `not_found`,
 * `aborted` (the object does not have the expected revision), `resource_exhausted` (the disk is full, or `OutOfSpace`) or `unavailable`
 * (the file cannot be written).
 *
 * If the journal needs to be synced, a write only becomes durable some time after the call returns, and is then reported to watches.
 * Servers must wait for `untilDurable` before sending a response that reveals what they have read or written.
 */
export interface ObjectStore {
  /** The revision of the last write. */
  readonly revision: number;
  /** Total size of all objects encoded as JSON, in bytes. */
  readonly bytes: number;
  get(key: ObjectKey): StoredObject | undefined;
  /**
   * Throws `ExpiredRevision` if the history does not go back to the requested revision, and `out_of_range` if the revision is in the
   * future.
   */
  list(resource: string, options?: ListOptions): ObjectList;
  create(key: ObjectKey, object: ApiObject): StoredObject;
  update(key: ObjectKey, object: ApiObject, expected: number): StoredObject;
  /** Returns the last state, with the revision of the deletion. */
  delete(key: ObjectKey, expected: number): StoredObject;
  /** Applies all writes in order, or none of them. Throws `invalid_argument` if two writes refer to the same object. */
  transaction(writes: readonly Write[]): StoredObject[];
  /** Throws `ExpiredRevision` if the history does not go back to `from`. */
  watch(resource: string, options: WatchOptions): StoreWatch;
  /**
   * Resolves when all previous writes are durable. Returns `undefined` if they already are. Rejects with `unavailable` if syncing a write
   * fails. In this case, a power failure may undo the last writes, and all further writes are rejected.
   */
  untilDurable(): Promise<void> | undefined;
  /** Closes the store. No other method may be called after this. */
  close(): void;
}

/** Computes an object's value in an index. Objects without a value are not indexed. */
export type IndexValue = (object: ApiObject) => string | undefined;

/** Limits of a resource's history. If one is exceeded, the oldest events are dropped. */
export type HistoryBounds = {
  maxEvents: number;
  /** Maximum total size of the object states kept in memory only by the history. */
  maxBytes: number;
  /** Older events are dropped on a later write to any resource. Default: no maximum age. */
  maxAgeMs?: number;
};

/** Limits for the size of the stored objects, encoded as JSON. */
export type SpaceBounds = {
  maxObjectBytes: number;
  /** Maximum size of all objects. The reserve adds another eighth of it. */
  maxBytes: number;
  /**
   * Called when a write is rejected because the space is full, and again only after at least an eighth of the space has been free since.
   */
  onFull?: (sizes: { bytes: number; maxBytes: number }) => void;
};

export type StoreOptions = {
  /** Index functions by resource and index name. Indexes are built on first use. */
  indexes?: Readonly<Record<string, Readonly<Record<string, IndexValue>>>>;
  /** Resources with objects that are never written to disk and do not survive a restart. */
  volatile?: readonly string[];
  /** Limits of each resource's event history. Default: 10,000 events, 2 MiB and 5 minutes. */
  history?: HistoryBounds;
  /** Limits on the size of the stored objects. Default: unlimited. */
  space?: SpaceBounds;
  /** Called once if a sync fails. All further writes are rejected. */
  onSyncFailed?: (error: PodwrightError) => void;
};
