/** Collections of API objects shared between views: one per path and selector. */
import { type EventObject, eventTimeMs, type KubeObject, type Resource } from '../api/objects.ts';
import { builtIn, pathOf } from '../api/resources.ts';
import { Collection, type NewestOnly } from './collection.ts';

/** How long an unused collection stays open, because users often return to a page soon. */
const LINGER_MS = 20_000;
/** Limits the number of events retained, because a busy cluster has a lot of them. */
const NEWEST_EVENTS: NewestOnly = { maxObjects: 3000, timeOf: (object) => eventTimeMs(object as EventObject) };

type Shared = { collection: Collection<KubeObject>; users: number; timer?: ReturnType<typeof setTimeout> };

export type CollectionQuery = { namespace?: string; fieldSelector?: string; labelSelector?: string };

export class Collections {
  readonly #shared = new Map<string, Shared>();

  /** Returns a collection and a function to call when it is no longer needed. */
  use<T extends KubeObject>(
    resource: Resource,
    { namespace, ...query }: CollectionQuery = {},
  ): [Collection<T>, () => void] {
    const path = pathOf(resource, { namespace });
    const selected = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
    const key = `${path}?${new URLSearchParams(selected)}`;
    const newest = resource.kind === 'Event' ? NEWEST_EVENTS : undefined;
    let shared = this.#shared.get(key);
    if (shared === undefined) {
      shared = { collection: new Collection({ path, query: selected }, { newest }), users: 0 };
      this.#shared.set(key, shared);
    }
    clearTimeout(shared.timer);
    shared.users++;
    return [shared.collection as unknown as Collection<T>, () => this.#release(key, shared)];
  }

  /** Closes all collections, even those in use. */
  closeAll(): void {
    for (const { collection, timer } of this.#shared.values()) {
      clearTimeout(timer);
      collection.close();
    }
    this.#shared.clear();
  }

  #release(key: string, shared: Shared): void {
    shared.users--;
    if (shared.users > 0) return;
    shared.timer = setTimeout(() => {
      shared.collection.close();
      if (this.#shared.get(key) === shared) this.#shared.delete(key);
    }, LINGER_MS);
  }
}

export const PODS: Resource = builtIn('Pod');
export const EVENTS: Resource = builtIn('Event');
