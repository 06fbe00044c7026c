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

/** Which objects have which owners. */
export class Dependents {
  readonly #locations = new Map<string, Location>();
  /** The keys of dependents by the owner's UID. */
  readonly #byOwner = new Map<string, Set<string>>();
  /** The owners' UIDs by the dependent's key. */
  readonly #owners = new Map<string, readonly string[]>();

  /** Updates the owners of an object. Most objects have none: those are not decoded. */
  set(resource: string, object: StoredObject): void {
    const location = locationOf(resource, object);
    this.remove(location);
    if (!object.bytes.includes(REFERENCES)) return;
    const uids = ownersOf(object.decode()).map(({ uid }) => uid);
    if (uids.length === 0) return;
    const key = textOf(location);
    this.#locations.set(key, location);
    this.#owners.set(key, uids);
    for (const uid of uids) {
      const keys = this.#byOwner.get(uid) ?? new Set();
      this.#byOwner.set(uid, keys.add(key));
    }
  }

  remove(location: Location): void {
    const key = textOf(location);
    for (const uid of this.#owners.get(key) ?? []) {
      const keys = this.#byOwner.get(uid);
      keys?.delete(key);
      if (keys?.size === 0) this.#byOwner.delete(uid);
    }
    this.#owners.delete(key);
    this.#locations.delete(key);
  }

  of(uid: string): Location[] {
    return [...(this.#byOwner.get(uid) ?? [])].map((key) => this.#locations.get(key)!);
  }
}
