import { type ObjectKey, type ObjectStore, type Write, withSystemFields } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { PolicyWriter } from './authorization/bootstrap/ensure-policy.ts';
import type { Role, RoleBinding } from './authorization/rbac-objects.ts';

/** Writes a new cluster's RBAC objects to the store, in a single transaction on `commit`. */
export class StorePolicyWriter implements PolicyWriter {
  readonly #store: ObjectStore;
  readonly #nowMs: number;
  readonly #writes: Write[] = [];

  constructor(store: ObjectStore, nowMs: number) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  find<T extends Role | RoleBinding>(object: T): T | undefined {
    return this.#store.get(keyOf(object))?.decode() as T | undefined;
  }

  create(object: Role | RoleBinding): void {
    const metadata = withSystemFields(object.metadata, this.#nowMs);
    this.#writes.push({ type: 'create', key: keyOf(object), object: { ...object, metadata } as ApiObject });
  }

  update(object: Role | RoleBinding): void {
    const expected = Number(object.metadata.resourceVersion);
    this.#writes.push({ type: 'update', key: keyOf(object), object: object as ApiObject, expected });
  }

  /** Deletes the object immediately instead of on `commit`, because a transaction cannot delete and recreate the same object. */
  delete(object: Role | RoleBinding): void {
    this.#store.delete(keyOf(object), Number(object.metadata.resourceVersion));
  }

  /** No-op: the caller creates the namespaces. */
  ensureNamespace(): void {}

  commit(): void {
    if (this.#writes.length > 0) this.#store.transaction(this.#writes);
  }
}

const keyOf = ({ kind = '', metadata: { namespace = '', name = '' } }: Role | RoleBinding): ObjectKey => ({
  resource: `${kind.toLowerCase()}s.rbac.authorization.k8s.io`,
  namespace,
  name,
});
