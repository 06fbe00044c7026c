import type { StoredObject } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import { type Location, locationOf, textOf } from './location.ts';

export type OwnerReference = {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  blockOwnerDeletion?: boolean;
};

const REFERENCES = Buffer.from('"ownerReferences":');

export const ownersOf = ({ metadata }: ApiObject): readonly OwnerReference[] =>
  (metadata.ownerReferences ?? []) as readonly OwnerReference[];

/** Tracks which objects have which owners. */
export class Dependents {
  readonly #locations = new Map<string, Location>();
  /** Keys of the dependents, by UID of their owner. */
  readonly #byOwner = new Map<string, Set<string>>();
  /** Owner references of each dependent, by its key. */
  readonly #owners = new Map<string, readonly OwnerReference[]>();

  /** Records an object's owner references. Objects that have none, which is most of them, are not decoded. */
  set(resource: string, object: StoredObject): void {
    const location = locationOf(resource, object);
    this.remove(location);
    if (!object.bytes.includes(REFERENCES)) return;
    const owners = ownersOf(object.decode());
    if (owners.length === 0) return;
    const key = textOf(location);
    this.#locations.set(key, location);
    this.#owners.set(key, owners);
    for (const { uid } of owners) {
      const keys = this.#byOwner.get(uid) ?? new Set();
      this.#byOwner.set(uid, keys.add(key));
    }
  }

  remove(location: Location): void {
    const key = textOf(location);
    for (const { uid } of this.#owners.get(key) ?? []) {
      const keys = this.#byOwner.get(uid);
      keys?.delete(key);
      if (keys?.size === 0) this.#byOwner.delete(uid);
    }
    this.#owners.delete(key);
    this.#locations.delete(key);
  }

  /** Returns the objects that refer to the UID. The references may specify a different kind, name or namespace (see `refersTo`). */
  of(uid: string): Location[] {
    return [...(this.#byOwner.get(uid) ?? [])].map((key) => this.#locations.get(key)!);
  }

  /** Returns an object's owner references. */
  ownersOf(dependent: Location): readonly OwnerReference[] {
    return this.#owners.get(textOf(dependent)) ?? [];
  }
}
