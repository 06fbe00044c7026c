import type { ObjectStore, StoredObject } from '@podwright/api-machinery';
import type { UserInfo } from '@podwright/kube-kinds';
import { RBAC_GROUP, type Role, type RoleBinding } from './rbac-objects.ts';
import type { AppliedBinding, RbacSource, RoleReader } from './rbac-source.ts';
import { SubjectIndex } from './subject-index.ts';

/** The bindings in a namespace as of a store revision, both as stored objects and indexed by subject. */
type IndexedNamespace = { revision: number; objects: Map<string, StoredObject>; index: SubjectIndex };

/**
 * Reads RBAC objects from a store. Bindings are indexed by subject. Lookups update the index first, so new bindings apply from the next
 * request on.
 */
export class StoreRbacSource implements RbacSource {
  readonly #store: ObjectStore;
  readonly #namespaces = new Map<string, IndexedNamespace>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  role(namespace: string, name: string): RoleReader | undefined {
    return readerOf(this.#store.get({ resource: ROLES, namespace, name }));
  }

  clusterRole(name: string): RoleReader | undefined {
    return readerOf(this.#store.get({ resource: CLUSTER_ROLES, namespace: '', name }));
  }

  bindingsOf(user: UserInfo, namespace: string): AppliedBinding[] {
    return this.#indexOf(namespace)?.bindingsOf(user) ?? [];
  }

  #indexOf(namespace: string): SubjectIndex | undefined {
    const known = this.#namespaces.get(namespace);
    if (known?.revision === this.#store.revision) return known.index;
    const { revision, objects } =
      namespace === '' ? this.#store.list(CLUSTER_ROLE_BINDINGS) : this.#store.list(ROLE_BINDINGS, { namespace });
    if (objects.length === 0) {
      this.#namespaces.delete(namespace);
      return undefined;
    }
    const indexed = known ?? { revision, objects: new Map(), index: new SubjectIndex() };
    this.#namespaces.set(namespace, indexed);
    update(indexed, objects);
    indexed.revision = revision;
    return indexed.index;
  }
}

const ROLES = `roles.${RBAC_GROUP}`;
const CLUSTER_ROLES = `clusterroles.${RBAC_GROUP}`;
const ROLE_BINDINGS = `rolebindings.${RBAC_GROUP}`;
const CLUSTER_ROLE_BINDINGS = `clusterrolebindings.${RBAC_GROUP}`;

const readerOf = (object: StoredObject | undefined): RoleReader | undefined =>
  object && { sizeBytes: object.bytes.length, read: () => object.decode() as Role };

/** Updates the index with changed bindings. Unchanged bindings are recognized because they are the same `StoredObject`s as before. */
function update({ objects, index }: IndexedNamespace, newest: readonly StoredObject[]): void {
  for (const object of newest) {
    if (objects.get(object.key) === object) continue;
    objects.set(object.key, object);
    index.set(object.key, object.decode() as RoleBinding);
  }
  if (objects.size === newest.length) return;
  const present = new Set(newest.map(({ key }) => key));
  for (const key of objects.keys()) {
    if (present.has(key)) continue;
    objects.delete(key);
    index.delete(key);
  }
}
