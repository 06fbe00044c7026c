/** The objects of a resource, kept up to date by a watch. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { followList, type ListHandler, type ListTarget, type Transport } from '../api/follow-list.ts';
import type { KubeObject } from '../api/objects.ts';
import { messageOf } from '../api/request.ts';
import type { Change } from '../api/watch-event.ts';
import { FrameBatch, type Schedule } from './frame-batch.ts';

export type CollectionState =
  | { kind: 'loading' }
  | { kind: 'live' }
  /** The connection was lost, so the objects might be out of date. */
  | { kind: 'stale'; message: string }
  /** The user is not allowed to list the resource, or it does not exist. */
  | { kind: 'refused'; message: string };

export type NewestOnly = { maxObjects: number; timeOf(object: KubeObject): number };

export type CollectionOptions = {
  /** The maximum number of objects, and how to get the time of an object. The oldest objects are dropped. */
  newest?: NewestOnly;
  schedule?: Schedule;
  transport?: Transport;
};

export class Collection<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #version = signal(0);
  readonly #state = signal<CollectionState>({ kind: 'loading' });
  readonly #batch: FrameBatch<Change<T>>;
  readonly #newest: NewestOnly | undefined;
  readonly #abort = new AbortController();
  #listed: { version: number; list: readonly T[] } = { version: -1, list: [] };

  constructor(target: ListTarget, { newest, schedule, transport }: CollectionOptions = {}) {
    this.#newest = newest;
    this.#batch = new FrameBatch((changes) => this.#apply(changes), schedule);
    const handler: ListHandler<T> = {
      onList: (objects) => this.#replace(objects),
      onChange: (change) => this.#batch.add(change),
      onLive: () => this.#setState({ kind: 'live' }),
      onFailure: (error, isFinal) => this.#setState({ kind: isFinal ? 'refused' : 'stale', message: messageOf(error) }),
    };
    const keep = newest && ((objects: T[]) => newestOf(objects, newest));
    void followList<T>(target, { handler, signal: this.#abort.signal, transport, keep });
  }

  get state(): ReadonlySignal<CollectionState> {
    return this.#state;
  }

  /** A number that increases whenever the objects change. */
  get version(): ReadonlySignal<number> {
    return this.#version;
  }

  /** The objects in the order in which they were first received. Components that read this are rerendered when they change. */
  get list(): readonly T[] {
    const version = this.#version.value;
    if (this.#listed.version !== version) this.#listed = { version, list: [...this.#objects.values()] };
    return this.#listed.list;
  }

  close(): void {
    this.#abort.abort();
    this.#batch.drop();
  }

  #replace(objects: T[]): void {
    this.#batch.drop();
    this.#objects.clear();
    for (const object of objects) this.#set(object);
    this.#version.value++;
  }

  #apply(changes: Change<T>[]): void {
    for (const { type, object } of changes)
      if (type === 'DELETED') this.#objects.delete(keyOf(object));
      else this.#set(object);
    this.#dropOldest();
    this.#version.value++;
  }

  #set(object: T): void {
    this.#objects.set(keyOf(object), dropManagedFields(object));
  }

  /** If there are too many objects, drops an eighth of them at once, because all objects are sorted each time. */
  #dropOldest(): void {
    const newest = this.#newest;
    if (newest === undefined || this.#objects.size <= newest.maxObjects) return;
    const kept = newestOf([...this.#objects.values()], {
      ...newest,
      maxObjects: Math.ceil(newest.maxObjects * (7 / 8)),
    });
    const keys = new Set(kept.map(keyOf));
    for (const key of this.#objects.keys()) if (!keys.has(key)) this.#objects.delete(key);
  }

  #setState(state: CollectionState): void {
    const { kind } = this.#state.value;
    if (kind !== state.kind || kind === 'stale') this.#state.value = state;
  }
}

const keyOf = ({ metadata }: KubeObject): string =>
  metadata.uid ?? `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

function newestOf<T extends KubeObject>(objects: T[], { maxObjects, timeOf }: NewestOnly): T[] {
  if (objects.length <= maxObjects) return objects;
  const times = new Map(objects.map((object) => [object, timeOf(object)]));
  return objects.toSorted((a, b) => times.get(b)! - times.get(a)!).slice(0, maxObjects);
}

/** Removes `managedFields`, which are not shown in lists but are as large as the rest of the object. */
function dropManagedFields<T extends KubeObject>(object: T): T {
  const metadata = object.metadata as T['metadata'] & { managedFields?: unknown };
  delete metadata.managedFields;
  return object;
}
