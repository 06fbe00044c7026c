import { PodwrightError } from '@podwright/base';
import { EventHistory } from './event-history.ts';
import { HistoryWatch } from './history-watch.ts';
import { ObjectIndex } from './object-index.ts';
import type {
  HistoryBounds,
  IndexValue,
  ListOptions,
  ObjectList,
  StoreEvent,
  StoreWatch,
  WatchOptions,
} from './object-store.ts';
import { stateBefore } from './past-state.ts';
import { positionOf, SortedObjects } from './sorted-objects.ts';
import type { StoredObject } from './stored-object.ts';

export type TableOptions = {
  resource: string;
  /** The store's revision when it was opened; the resource's history starts after it. */
  begin: number;
  indexes: Readonly<Record<string, IndexValue>>;
  history: HistoryBounds;
};

/** The objects, indexes and history of a resource. */
export class ResourceTable {
  readonly #options: TableOptions;
  readonly #objects = new SortedObjects();
  readonly #indexes = new Map<string, ObjectIndex>();
  readonly #history: EventHistory;

  constructor(options: TableOptions) {
    this.#options = options;
    this.#history = new EventHistory(options.resource, options.begin, options.history);
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  /** Adds an object that the journal had recorded before the store was opened. */
  load(object: StoredObject): void {
    this.#objects.set(object);
  }

  /** Applies a recorded change. Watches receive it on the next `publish`. */
  apply(event: StoreEvent): void {
    const { type, object } = event;
    for (const objects of [this.#objects, ...this.#indexes.values()]) {
      if (type === 'DELETED') objects.delete(object.key);
      else objects.set(object);
    }
    this.#history.append(event);
  }

  /** Publishes the changes up to a revision to watches. Returns whether all changes have been published. */
  publish(revision: number): boolean {
    return this.#history.publish(revision);
  }

  dropOldHistory(): void {
    this.#history.dropOld();
  }

  /** `revision`: the store's current revision. */
  list({ namespace, index, limit, ...options }: ListOptions, revision: number): ObjectList {
    const requested = options.continuation?.revision ?? options.revision ?? revision;
    if (requested > revision)
      throw new PodwrightError(
        'out_of_range',
        `list ${this.#options.resource} at revision ${requested}: the newest revision is ${revision}`,
      );
    const events = requested === revision ? [] : this.#history.from(this.#history.firstAfter(requested))!;
    const all = stateBefore(events, this.#select({ namespace, index }), (object) =>
      this.#isSelected(object, { namespace, index }),
    );
    const first = options.continuation === undefined ? 0 : positionOf(all, `${options.continuation.after}\0`);
    const end = Math.min(all.length, first + (limit || all.length));
    const objects = first === 0 && end === all.length ? all : all.slice(first, end);
    if (end === all.length) return { revision: requested, objects };
    const continuation = { revision: requested, after: objects.at(-1)!.key };
    return { revision: requested, objects, rest: { count: all.length - end, continuation } };
  }

  watch(options: WatchOptions, revision: () => number): StoreWatch {
    return new HistoryWatch(this.#options.resource, { history: this.#history, revision }, options);
  }

  #select({ namespace, index }: ListOptions): StoredObject[] {
    return index === undefined ? this.#objects.list(namespace) : this.#index(index.name).list(index.value, namespace);
  }

  #isSelected(object: StoredObject, { namespace, index }: ListOptions): boolean {
    const isInside = namespace === undefined || object.key.startsWith(`${namespace}/`);
    return isInside && (index === undefined || this.#index(index.name).has(index.value, object));
  }

  #index(name: string): ObjectIndex {
    const built = this.#indexes.get(name);
    if (built !== undefined) return built;
    const computeValue = this.#options.indexes[name];
    if (computeValue === undefined)
      throw new PodwrightError('invalid_argument', `list ${this.#options.resource}: there is no index ${name}`);
    const index = new ObjectIndex(computeValue, this.#objects.list());
    this.#indexes.set(name, index);
    return index;
  }
}
