import type { ApiObject } from '@podwright/kube-kinds';
import { GroupSync } from './group-sync.ts';
import { type Journal, NO_JOURNAL } from './journal.ts';
import type {
  ListOptions,
  ObjectKey,
  ObjectList,
  ObjectStore,
  StoreEvent,
  StoreOptions,
  StoreWatch,
  WatchOptions,
  Write,
} from './object-store.ts';
import { planWrites } from './plan-writes.ts';
import { ResourceTable } from './resource-table.ts';
import { Space } from './space.ts';
import { keyOf } from './store-errors.ts';
import type { StoredObject } from './stored-object.ts';

/**
 * Default limits of a resource's event history. Upstream's API server also retains the last five minutes (`--etcd-compaction-interval`).
 */
const DEFAULT_HISTORY = { maxEvents: 10_000, maxBytes: 2 << 20, maxAgeMs: 300_000 };

/** Minimum interval between removals of expired events. */
const DROP_EVERY_MS = 30_000;

/**
 * Number of revisions that the journal reserves at a time. This way, writes to volatile resources only cause a disk write when a range is
 * used up: every four days with 16 lease renewals per minute.
 */
const REVISION_RANGE = 100_000;

/**
 * A store that keeps all objects in memory. A journal makes it durable: each change is recorded in the journal before it becomes visible,
 * and is reported to watches once the journal is synced.
 */
export class MemoryStore implements ObjectStore {
  readonly #tables = new Map<string, ResourceTable>();
  readonly #journal: Journal;
  readonly #options: StoreOptions;
  readonly #volatile: ReadonlySet<string>;
  readonly #space: Space;
  readonly #sync: GroupSync;
  /** Tables of resources with events that watches have not received yet. */
  readonly #unpublished = new Set<ResourceTable>();
  /** The initial revision. It is higher than any revision assigned before the restart, so clients must list again. */
  readonly #begin: number;
  #revision: number;
  /** The revision up to which all writes are durable and events are reported to watches. */
  #durable: number;
  #reserved: number;
  #droppedAtMs = performance.now();

  constructor(options: StoreOptions = {}, journal: Journal = NO_JOURNAL) {
    this.#options = options;
    this.#journal = journal;
    this.#volatile = new Set(options.volatile);
    this.#space = new Space(options.space);
    this.#reserved = journal.reservedRevision;
    this.#begin = this.#reserved + 1;
    this.#revision = this.#begin;
    this.#durable = this.#begin;
    const durable = (revision: number) => this.#publish(revision);
    this.#sync = new GroupSync({ sync: journal.sync?.bind(journal), durable, onFailed: options.onSyncFailed });
    for (const { resource, object } of journal.objects()) {
      this.#table(resource).load(object);
      this.#space.load(object.bytes.length);
    }
  }

  get bytes(): number {
    return this.#space.bytes;
  }

  get revision(): number {
    return this.#revision;
  }

  get(key: ObjectKey): StoredObject | undefined {
    return this.#table(key.resource).get(keyOf(key));
  }

  list(resource: string, options: ListOptions = {}): ObjectList {
    return this.#table(resource).list(options, this.#revision);
  }

  create(key: ObjectKey, object: ApiObject): StoredObject {
    return this.#write({ type: 'create', key, object });
  }

  update(key: ObjectKey, object: ApiObject, expected: number): StoredObject {
    return this.#write({ type: 'update', key, object, expected });
  }

  delete(key: ObjectKey, expected: number): StoredObject {
    return this.#write({ type: 'delete', key, expected });
  }

  transaction(writes: readonly Write[]): StoredObject[] {
    const events = planWrites(writes, { revision: this.#revision, get: (key) => this.get(key) });
    this.#space.check(writes, events);
    const isRecorded = this.#record(writes, events);
    this.#space.apply(events);
    for (const [index, event] of events.entries()) {
      const table = this.#table(writes[index]!.key.resource);
      table.apply(event);
      this.#unpublished.add(table);
    }
    this.#revision += events.length;
    this.#sync.written(this.#revision, isRecorded);
    this.#dropOldHistory();
    return events.map(({ object }) => object);
  }

  watch(resource: string, options: WatchOptions): StoreWatch {
    return this.#table(resource).watch(options, () => this.#durable);
  }

  untilDurable(): Promise<void> | undefined {
    return this.#sync.until();
  }

  close(): void {
    this.#journal.close();
  }

  #write(write: Write): StoredObject {
    return this.transaction([write])[0]!;
  }

  #dropOldHistory(): void {
    const nowMs = performance.now();
    if (nowMs - this.#droppedAtMs < DROP_EVERY_MS) return;
    this.#droppedAtMs = nowMs;
    for (const table of this.#tables.values()) table.dropOldHistory();
  }

  #publish(revision: number): void {
    this.#durable = revision;
    for (const table of this.#unpublished) if (table.publish(revision)) this.#unpublished.delete(table);
  }

  /**
   * Records the events in the journal, except those of volatile resources. Reserves more revisions when the reserved range is used up.
   * Returns whether anything was recorded. Throws if a previous sync failed.
   */
  #record(writes: readonly Write[], events: readonly StoreEvent[]): boolean {
    const changes = events
      .map(({ type, object }, index) => ({
        resource: writes[index]!.key.resource,
        object,
        isDeleted: type === 'DELETED',
      }))
      .filter(({ resource }) => !this.#volatile.has(resource));
    const last = this.#revision + events.length;
    const reserve = last > this.#reserved ? last + REVISION_RANGE : undefined;
    if (changes.length === 0 && reserve === undefined) return false;
    this.#sync.check();
    this.#journal.record({ changes, reserve });
    this.#reserved = reserve ?? this.#reserved;
    return true;
  }

  #table(resource: string): ResourceTable {
    const known = this.#tables.get(resource);
    if (known !== undefined) return known;
    const { indexes = {}, history = DEFAULT_HISTORY } = this.#options;
    const table = new ResourceTable({ resource, begin: this.#begin, indexes: indexes[resource] ?? {}, history });
    this.#tables.set(resource, table);
    return table;
  }
}
