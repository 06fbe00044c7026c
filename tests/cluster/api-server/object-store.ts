/**
 * Objects in memory with one revision counter, and the recent changes. Every change is delivered to the listeners of its table within the
 * call that makes it, so that no listener misses one between a snapshot and a subscription.
 */
import type { ApiObject } from './json.ts';

export type StoreEvent = {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Has the version of this change, also for a deletion. */
  object: ApiObject;
  /** The previous state. */
  previous?: ApiObject;
  revision: number;
};

/** The content of a store, to create another one: objects by table and key. */
export type StoreSnapshot = { revision: number; tables: ReadonlyMap<string, ReadonlyMap<string, ApiObject>> };

type Listener = (event: StoreEvent) => void;

class Table {
  readonly objects = new Map<string, ApiObject>();
  readonly listeners = new Set<Listener>();
  history: StoreEvent[] = [];
  /** Changes up to this revision have been removed from the history. */
  compacted: number;

  constructor(compacted: number) {
    this.compacted = compacted;
  }
}

export class ObjectStore {
  readonly #tables = new Map<string, Table>();
  readonly #historySize: number;
  #revision: number;
  #begin: number;

  /** `historySize`: number of changes of a table that are retained for watches from older versions. */
  constructor({ historySize = 10_000, snapshot }: { historySize?: number; snapshot?: StoreSnapshot } = {}) {
    this.#historySize = historySize;
    this.#revision = snapshot?.revision ?? 1;
    this.#begin = this.#revision;
    for (const [name, objects] of snapshot?.tables ?? []) {
      const table = this.#table(name);
      for (const [key, object] of objects) table.objects.set(key, object);
    }
  }

  get revision(): number {
    return this.#revision;
  }

  get(table: string, key: string): ApiObject | undefined {
    return this.#table(table).objects.get(key);
  }

  /** Objects in the order of their keys. */
  list(table: string, prefix = ''): ApiObject[] {
    const entries = [...this.#table(table).objects].filter(([key]) => key.startsWith(prefix));
    return entries.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, object]) => object);
  }

  /** Creates or replaces an object; returns the stored one, which has the new version. */
  put(table: string, key: string, object: ApiObject): ApiObject {
    const place = this.#table(table);
    const previous = place.objects.get(key);
    const stored = this.#versioned(object);
    place.objects.set(key, stored);
    const type = previous === undefined ? 'ADDED' : 'MODIFIED';
    this.#notify(place, { type, object: stored, previous, revision: this.#revision });
    return stored;
  }

  /** Returns the last state of the object, with the version of its deletion. */
  remove(table: string, key: string): ApiObject | undefined {
    const place = this.#table(table);
    const previous = place.objects.get(key);
    if (previous === undefined) return undefined;
    place.objects.delete(key);
    const object = this.#versioned(previous);
    this.#notify(place, { type: 'DELETED', object, previous, revision: this.#revision });
    return object;
  }

  /** The changes after a revision, undefined if some of them have been removed. */
  since(table: string, revision: number): StoreEvent[] | undefined {
    const { compacted, history } = this.#table(table);
    return revision < compacted ? undefined : history.filter((event) => event.revision > revision);
  }

  /** The revision up to which changes of a table have been removed. */
  compactedOf(table: string): number {
    return this.#table(table).compacted;
  }

  subscribe(table: string, listener: Listener): () => void {
    const { listeners } = this.#table(table);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Removes all history: a watch from any version but the newest is too old. */
  compact(): void {
    this.#begin = this.#revision;
    for (const table of this.#tables.values()) {
      table.history = [];
      table.compacted = this.#revision;
    }
  }

  snapshot(): StoreSnapshot {
    const tables = [...this.#tables].map(([name, { objects }]) => [name, new Map(objects)] as const);
    return { revision: this.#revision, tables: new Map(tables) };
  }

  #versioned(object: ApiObject): ApiObject {
    this.#revision += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
  }

  #notify(table: Table, event: StoreEvent): void {
    table.history.push(event);
    if (table.history.length > this.#historySize) table.compacted = table.history.shift()!.revision;
    for (const listener of [...table.listeners]) listener(event);
  }

  #table(name: string): Table {
    const known = this.#tables.get(name);
    if (known !== undefined) return known;
    const made = new Table(this.#begin);
    this.#tables.set(name, made);
    return made;
  }
}
