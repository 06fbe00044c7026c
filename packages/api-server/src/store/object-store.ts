import type { ApiObject } from '../api-object.ts';
import type { StoredObject } from './stored-object.ts';

/** Identifies an object. */
export type ObjectKey = {
  /** The group resource: `pods` in the core group, `deployments.apps` in another one. */
  resource: string;
  /** '' for cluster-scoped objects. */
  namespace: string;
  name: string;
};

/**
 * One write of a transaction. `expected` is the revision that the object must have, which is how clients lock optimistically: the caller
 * read the object at that revision and computed the write from it. The store takes ownership of `object` and does not copy it.
 */
export type Write =
  | { type: 'create'; key: ObjectKey; object: ApiObject }
  | { type: 'update'; key: ObjectKey; object: ApiObject; expected: number }
  | { type: 'delete'; key: ObjectKey; expected: number };

/** A change of one object. All watches share the event, and so the encoded object. */
export type StoreEvent = {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The new state; of a deletion the last state, with the revision of the deletion. */
  object: StoredObject;
  /** The state before; undefined for ADDED. With it a watch with selectors finds objects that begin or cease to match. */
  previous?: StoredObject;
};

/** The rest of a list: the objects after a key, in the state of a revision. Clients receive it as an opaque token. */
export type Continuation = { revision: number; after: string };

export type ListOptions = {
  /** Only objects of this namespace. */
  namespace?: string;
  /** Only objects for which the resource's index of this name has this value. Throws `invalid_argument` for an unknown index. */
  index?: { name: string; value: string };
  /** The maximal number of objects. Default, and if 0: all. */
  limit?: number;
  /** Lists the state of this revision instead of the newest one. */
  revision?: number;
  /** Continues an earlier list, with the state of its revision. */
  continuation?: Continuation;
};

export type ObjectList = {
  /** The revision of the listed state: a watch from it misses no change. */
  revision: number;
  /** In the byte order of `namespace/name`, as etcd's. */
  objects: StoredObject[];
  /** The number of objects after the last one, and how to list them. Undefined at the end. */
  rest?: { count: number; continuation: Continuation };
};

export type WatchOptions = {
  /** The revision after which changes are reported. It may be higher than the newest one. */
  from: number;
  /** Only changes of this namespace. */
  namespace?: string;
  /** Ends the watch when it aborts. */
  signal?: AbortSignal;
};

/**
 * The changes of a resource in their order, in batches of those that happened since the last batch was taken. Nothing is buffered for a
 * watch: it reads the history of its resource. Iteration rejects with `SlowWatcher` if the history has dropped changes that the watch did
 * not read yet. It can be iterated once.
 */
export interface StoreWatch extends AsyncIterable<readonly StoreEvent[]> {
  /**
   * A revision up to which every change has been taken. It grows also by changes of other resources. A bookmark may have it once
   * all events that were taken have been sent.
   */
  readonly progress: number;
}

/**
 * The objects of an API server, with one revision counter: each write has a revision of its own, which is the object's
 * `metadata.resourceVersion`. The store never gives a revision twice, also after a crash.
 *
 * All calls are synchronous, so reads and writes between two `await`s of a caller see no foreign change. A write has been recorded
 * when its call returns; if it throws, nothing has changed. Names are not validated.
 * Errors of writes: `already_exists`, `not_found`, `aborted` (another revision than expected), `resource_exhausted` (the disk is full),
 * `unavailable` (the file cannot be written).
 */
export interface ObjectStore {
  /** The revision of the last write. */
  readonly revision: number;
  get(key: ObjectKey): StoredObject | undefined;
  /** Throws `ExpiredRevision` if the history does not reach back to the revision, and `out_of_range` for one in the future. */
  list(resource: string, options?: ListOptions): ObjectList;
  create(key: ObjectKey, object: ApiObject): StoredObject;
  update(key: ObjectKey, object: ApiObject, expected: number): StoredObject;
  /** Returns the last state, with the revision of the deletion. */
  delete(key: ObjectKey, expected: number): StoredObject;
  /** Makes all writes or none, in this order. Throws `invalid_argument` for two writes of one object. */
  transaction(writes: readonly Write[]): StoredObject[];
  /** Throws `ExpiredRevision` if the history does not reach back to `from`. */
  watch(resource: string, options: WatchOptions): StoreWatch;
  /** No call may follow. */
  close(): void;
}

/** Computes the value of an object in an index; undefined leaves the object out of the index. */
export type IndexValue = (object: ApiObject) => string | undefined;

/** The bounds of a resource's history: the oldest events beyond one of them are dropped. */
export type HistoryBounds = {
  maxEvents: number;
  /** Bound for the states that only the history retains. */
  maxBytes: number;
};

export type StoreOptions = {
  /** Indexes by resource and name. An index is built when it is first used. */
  indexes?: Readonly<Record<string, Readonly<Record<string, IndexValue>>>>;
  /** Resources whose objects are never written to disk, and so do not survive a restart. */
  volatile?: readonly string[];
  /** Default: 10,000 events and 8 MiB. */
  history?: HistoryBounds;
};
