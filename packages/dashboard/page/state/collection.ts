/** The objects of a resource, kept current by a watch. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { type Following, followList, type ListPlace, type Transport } from '../api/follow-list.ts';
import type { KubeObject } from '../api/objects.ts';
import { messageOf } from '../api/request.ts';
import type { Change } from '../api/watch-event.ts';
import { FrameBatch, type Schedule } from './frame-batch.ts';

export type CollectionState =
  | { kind: 'loading' }
  | { kind: 'live' }
  /** The connection is lost; the objects are those from before. */
  | { kind: 'stale'; message: string }
  /** The user lacks the right, or the server the kind. */
  | { kind: 'refused'; message: string };

export type CollectionOptions = {
  /** The oldest objects beyond this number are dropped. */
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
  #sorted: { version: number; list: readonly T[] } = { version: -1, list: [] };

  constructor(
    place: ListPlace,
    { maxObjects = Number.POSITIVE_INFINITY, schedule, transport }: CollectionOptions = {},
  ) {
    this.#maxObjects = maxObjects;
    this.#batch = new FrameBatch((changes) => this.#apply(changes), schedule);
    const following: Following<T> = {
      onList: (objects) => this.#replace(objects),
      onChange: (change) => this.#batch.add(change),
      onLive: () => this.#setState({ kind: 'live' }),
      onFailure: (error, isFinal) => this.#setState({ kind: isFinal ? 'refused' : 'stale', message: messageOf(error) }),
    };
    void followList<T>(place, { following, signal: this.#abort.signal, transport });
  }

  get state(): ReadonlySignal<CollectionState> {
    return this.#state;
  }

  /** Changes with each change of the objects. */
  get version(): ReadonlySignal<number> {
    return this.#version;
  }

  /** The objects in the order in which they came. A component that reads it is drawn again when they change. */
  get list(): readonly T[] {
    const version = this.#version.value;
    if (this.#sorted.version !== version) this.#sorted = { version, list: [...this.#objects.values()] };
    return this.#sorted.list;
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
    this.#objects.set(keyOf(object), slim(object));
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

/** Removes the parts that no list shows and that are as large as the rest. */
function slim<T extends KubeObject>(object: T): T {
  const metadata = object.metadata as T['metadata'] & { managedFields?: unknown };
  delete metadata.managedFields;
  return object;
}
