/**
 * Objects in memory with one counter for all of them, and what happened to them lately. Every change is told to the listeners of
 * its table within the call that makes it, so nobody can miss one between a snapshot and a subscription.
 */
import type { ApiObject } from './json.ts';

export type StoreEvent = {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** With the version of this change also where it is a deletion. */
  object: ApiObject;
  /** What there was before. */
  previous?: ApiObject;
  revision: number;
};

/** What a store holds, to begin another with: objects by table and key. */
export type StoreSnapshot = { revision: number; tables: ReadonlyMap<string, ReadonlyMap<string, ApiObject>> };

type Listener = (event: StoreEvent) => void;

class Table {
  readonly objects = new Map<string, ApiObject>();
  readonly listeners = new Set<Listener>();
  history: StoreEvent[] = [];
  /** Changes up to this revision are forgotten. */
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

  /** `historySize`: how many changes of a table are kept for watches that begin at an older version. */
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

  /** In the order of their keys. */
  list(table: string, prefix = ''): ApiObject[] {
    const entries = [...this.#table(table).objects].filter(([key]) => key.startsWith(prefix));
    return entries.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, object]) => object);
  }

  /** Creates or replaces; answers with what is stored, which has the new version. */
  put(table: string, key: string, object: ApiObject): ApiObject {
    const place = this.#table(table);
    const previous = place.objects.get(key);
    const stored = this.#versioned(object);
    place.objects.set(key, stored);
    const type = previous === undefined ? 'ADDED' : 'MODIFIED';
    this.#tell(place, { type, object: stored, previous, revision: this.#revision });
    return stored;
  }

  /** Answers with the object as it was last, with the version of its deletion. */
  remove(table: string, key: string): ApiObject | undefined {
    const place = this.#table(table);
    const previous = place.objects.get(key);
    if (previous === undefined) return undefined;
    place.objects.delete(key);
    const object = this.#versioned(previous);
    this.#tell(place, { type: 'DELETED', object, previous, revision: this.#revision });
    return object;
  }

  /** The changes after a revision, undefined if some of them are forgotten. */
  since(table: string, revision: number): StoreEvent[] | undefined {
    const { compacted, history } = this.#table(table);
    return revision < compacted ? undefined : history.filter((event) => event.revision > revision);
  }

  /** Up to which revision changes of a table are forgotten. */
  compactedOf(table: string): number {
    return this.#table(table).compacted;
  }

  subscribe(table: string, listener: Listener): () => void {
    const { listeners } = this.#table(table);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Forgets all history: a watch from any version but the newest is too old. */
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

  #tell(table: Table, event: StoreEvent): void {
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
