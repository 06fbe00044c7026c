/** The objects of a resource, kept current by a watch. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { followList, type ListHandler, type ListTarget, type Transport } from '../api/follow-list.ts';
import type { KubeObject } from '../api/objects.ts';
import { messageOf } from '../api/request.ts';
import type { Change } from '../api/watch-event.ts';
import { FrameBatch, type Schedule } from './frame-batch.ts';

export type CollectionState =
  | { kind: 'loading' }
  | { kind: 'live' }
  /** The connection is lost; the objects are those that were received before. */
  | { kind: 'stale'; message: string }
  /** The user may not list the resource, or the server does not have it. */
  | { kind: 'refused'; message: string };

export type CollectionOptions = {
  /** Maximum number of objects. Those that were received first are dropped. */
  maxObjects?: number;
  schedule?: Schedule;
  transport?: Transport;
};

export class Collection<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #version = signal(0);
  readonly #state = signal<CollectionState>({ kind: 'loading' });
  readonly #batch: FrameBatch<Change<T>>;
  readonly #maxObjects: number;
  readonly #abort = new AbortController();
  #listed: { version: number; list: readonly T[] } = { version: -1, list: [] };

  constructor(
    target: ListTarget,
    { maxObjects = Number.POSITIVE_INFINITY, schedule, transport }: CollectionOptions = {},
  ) {
    this.#maxObjects = maxObjects;
    this.#batch = new FrameBatch((changes) => this.#apply(changes), schedule);
    const handler: ListHandler<T> = {
      onList: (objects) => this.#replace(objects),
      onChange: (change) => this.#batch.add(change),
      onLive: () => this.#setState({ kind: 'live' }),
      onFailure: (error, isFinal) => this.#setState({ kind: isFinal ? 'refused' : 'stale', message: messageOf(error) }),
    };
    void followList<T>(target, { handler, signal: this.#abort.signal, transport });
  }

  get state(): ReadonlySignal<CollectionState> {
    return this.#state;
  }

  /** A number that increases with each change of the objects. */
  get version(): ReadonlySignal<number> {
    return this.#version;
  }

  /** The objects in the order in which they were first received. A component that reads this is rendered again when they change. */
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
    this.#version.value++;
  }

  #set(object: T): void {
    this.#objects.set(keyOf(object), dropManagedFields(object));
    if (this.#objects.size <= this.#maxObjects) return;
    const [oldest] = this.#objects.keys();
    this.#objects.delete(oldest!);
  }

  #setState(state: CollectionState): void {
    const { kind } = this.#state.value;
    if (kind !== state.kind || kind === 'stale') this.#state.value = state;
  }
}

const keyOf = ({ metadata }: KubeObject): string =>
  metadata.uid ?? `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

/** Removes `managedFields`, which no list shows and which are as large as the rest of the object. */
function dropManagedFields<T extends KubeObject>(object: T): T {
  const metadata = object.metadata as T['metadata'] & { managedFields?: unknown };
  delete metadata.managedFields;
  return object;
}
