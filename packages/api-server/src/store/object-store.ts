import type { ApiObject } from '@podwright/kube-kinds';
import type { StoredObject } from './stored-object.ts';

/** Identifies an object. */
export type ObjectKey = {
  /** The group resource: `pods` in the core group, `deployments.apps` in any other group. */
  resource: string;
  /** '' for cluster-scoped objects. */
  namespace: string;
  name: string;
};

/**
 * One write of a transaction. `expected` is the revision that the stored object must have (optimistic locking): the caller read that
 * revision and computed the write from it. The store takes ownership of `object` and does not copy it.
 */
export type Write =
  | { type: 'create'; key: ObjectKey; object: ApiObject }
  | { type: 'update'; key: ObjectKey; object: ApiObject; expected: number }
  | { type: 'delete'; key: ObjectKey; expected: number };

/** A change of one object. All watches share the event, and with it the encoded object. */
export type StoreEvent = {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The new state. For a deletion, the last state with the revision of the deletion. */
  object: StoredObject;
  /** The state before the change; undefined for ADDED. A watch with selectors needs it to detect objects that start or stop matching. */
  previous?: StoredObject;
};

/** Where a list continues: after a key, in the state at a revision. Clients receive it as an opaque token. */
export type Continuation = { revision: number; after: string };

export type ListOptions = {
  /** Only objects of this namespace. */
  namespace?: string;
  /** Only objects for which the resource's index with this name has this value. Throws `invalid_argument` for an unknown index. */
  index?: { name: string; value: string };
  /** Maximum number of objects. Default, and for 0: no limit. */
  limit?: number;
  /** Lists the state at this revision instead of the newest one. */
  revision?: number;
  /** Continues an earlier list, in the state at that list's revision. */
  continuation?: Continuation;
};

export type ObjectList = {
  /** The revision of the listed state. A watch from it misses no change. */
  revision: number;
  /** In the byte order of `namespace/name`, as in etcd. */
  objects: StoredObject[];
  /** The number of remaining objects, and the continuation to list them. Undefined if there are none. */
  rest?: { count: number; continuation: Continuation };
};

export type WatchOptions = {
  /** Changes after this revision are reported. It may be higher than the newest revision. */
  from: number;
  /** Only changes of this namespace. */
  namespace?: string;
  /** Ends the watch when it aborts. */
  signal?: AbortSignal;
};

/**
 * The changes of a resource in order. Each iteration returns the changes since the previous one as a batch. A watch has no buffer: it reads
 * the history of its resource. Iteration rejects with `SlowWatcher` if the history has dropped changes that the watch has not read yet. A
 * watch can be iterated only once.
 */
export interface StoreWatch extends AsyncIterable<readonly StoreEvent[]> {
  /**
   * A revision up to which the watch has read all changes. Changes of other resources also advance it. A bookmark may carry it once all
   * events read so far have been sent.
   */
  readonly progress: number;
}

/**
 * The objects of an API server, with one revision counter. Each write gets a revision of its own, which becomes the object's
 * `metadata.resourceVersion`. The store never gives out a revision twice, even after a crash.
 *
 * All calls are synchronous, so a caller sees no foreign changes between two of its `await`s. A write has been recorded when its call
 * returns; if the call throws, nothing has changed. Names are not validated. Errors of writes: `already_exists`, `not_found`, `aborted`
 * (the object has another revision than expected), `resource_exhausted` (the disk is full), `unavailable` (the file cannot be written).
 */
export interface ObjectStore {
  /** The revision of the last write. */
  readonly revision: number;
  get(key: ObjectKey): StoredObject | undefined;
  /** Throws `ExpiredRevision` if the history does not reach back to the revision, and `out_of_range` for a future revision. */
  list(resource: string, options?: ListOptions): ObjectList;
  create(key: ObjectKey, object: ApiObject): StoredObject;
  update(key: ObjectKey, object: ApiObject, expected: number): StoredObject;
  /** Returns the last state, with the revision of the deletion. */
  delete(key: ObjectKey, expected: number): StoredObject;
  /** Makes all writes in order, or none. Throws `invalid_argument` if two writes are for the same object. */
  transaction(writes: readonly Write[]): StoredObject[];
  /** Throws `ExpiredRevision` if the history does not reach back to `from`. */
  watch(resource: string, options: WatchOptions): StoreWatch;
  /** Closes the store. No other call may follow. */
  close(): void;
}

/** Computes the value of an object in an index. Objects with the value undefined are not in the index. */
export type IndexValue = (object: ApiObject) => string | undefined;

/** Bounds of a resource's history. If one is exceeded, the oldest events are dropped. */
export type HistoryBounds = {
  maxEvents: number;
  /** Maximum size of the states that only the history keeps in memory. */
  maxBytes: number;
};

export type StoreOptions = {
  /** Index functions by resource and index name. An index is built on first use. */
  indexes?: Readonly<Record<string, Readonly<Record<string, IndexValue>>>>;
  /** Resources whose objects are never written to disk, so they do not survive a restart. */
  volatile?: readonly string[];
  /** Default: 10,000 events and 8 MiB. */
  history?: HistoryBounds;
};
