import type { ObjectStore, StoredObject } from '@podwright/api-machinery';
import { Listeners } from '@podwright/base';
import { isSameValue } from '@podwright/kube-kinds';
import { API_SERVICES, type GroupVersionName, isAvailable, type Registration, registrationOf } from './registration.ts';

type Known = { registration: Registration; isAvailable: boolean };

/** Registrations of extension API servers. Uses no memory if there are none. */
export class Registrations {
  readonly #store: Pick<ObjectStore, 'list'>;
  /** The registrations of group versions and whether their servers are available, by name of the APIService. */
  #known: ReadonlyMap<string, Known> = new Map();
  readonly #changed = new Listeners();

  /** Reads the stored APIServices. */
  constructor(store: Pick<ObjectStore, 'list'>) {
    this.#store = store;
    this.reload();
  }

  get all(): Registration[] {
    return [...this.#known.values()].map(({ registration }) => registration);
  }

  /** Returns the registration of a group version and whether its server is available; `undefined` if it is not registered. */
  find({ group, version }: GroupVersionName): Known | undefined {
    return this.#known.size === 0 ? undefined : this.#known.get(`${version}.${group}`);
  }

  /** Like `find`, for any group version of the group, preferably one whose server is available. */
  findInGroup(group: string): Known | undefined {
    const known = [...this.#known.values()].filter(({ registration }) => registration.group === group);
    return known.find(({ isAvailable }) => isAvailable) ?? known[0];
  }

  /** Whether an extension API server serves any version of the group. */
  hasGroup(group: string): boolean {
    return this.#known.size > 0 && this.all.some((one) => one.group === group);
  }

  /** Calls `listener` after each change of the registrations, but not of their availability. */
  onChange(listener: () => void): void {
    this.#changed.subscribe(listener);
  }

  /** Whether a changed APIService registers an extension API server, or did so before the change. */
  isConcerned(changed: StoredObject): boolean {
    return this.#known.has(changed.key.slice(1)) || registrationOf(changed.decode()) !== undefined;
  }

  /** Reads the stored APIServices again. */
  reload(): void {
    const next = new Map<string, Known>();
    for (const stored of this.#store.list(API_SERVICES).objects) {
      const object = stored.decode();
      const registration = registrationOf(object);
      if (registration !== undefined) next.set(registration.name, { registration, isAvailable: isAvailable(object) });
    }
    const before = this.all;
    this.#known = next;
    if (!isSameValue(before, this.all)) this.#changed.publish();
  }
}
