import type { Role, RoleBinding } from '../rbac-objects.ts';
import { type BootstrapPolicy, bootstrapPolicy } from './bootstrap-policy.ts';
import { type Reconciliation, reconcileBinding, reconcileRole } from './reconcile.ts';

/** Reads and writes RBAC objects without authorization checks, but through the registry, which fills in their metadata. */
export interface PolicyWriter {
  /** Returns the stored object with the same kind, namespace and name. */
  find<T extends Role | RoleBinding>(object: T): T | undefined;
  create(object: Role | RoleBinding): void;
  /** Updates an object returned by `find` after modifying it. Its resourceVersion must be current. */
  update(object: Role | RoleBinding): void;
  delete(object: Role | RoleBinding): void;
  /** Creates a namespace if it does not exist. */
  ensureNamespace(name: string): void;
}

/**
 * Creates missing bootstrap roles and bindings, and adds missing rules, subjects and metadata to existing ones. Called on every server
 * start.
 */
export function ensurePolicy(writer: PolicyWriter, policy: BootstrapPolicy = bootstrapPolicy()): void {
  const namespaces = [...policy.roles, ...policy.roleBindings].map(({ metadata }) => metadata.namespace!);
  for (const namespace of new Set(namespaces)) writer.ensureNamespace(namespace);
  for (const role of [...policy.clusterRoles, ...policy.roles]) ensure(writer, role, reconcileRole);
  for (const binding of [...policy.clusterRoleBindings, ...policy.roleBindings])
    ensure(writer, binding, reconcileBinding);
}

type Reconcile<T> = (existing: T, expected: T) => Reconciliation<T>;

function ensure<T extends Role | RoleBinding>(writer: PolicyWriter, expected: T, reconcile: Reconcile<T>): void {
  const existing = writer.find(expected);
  if (existing === undefined) {
    writer.create(expected);
    return;
  }
  const result = reconcile(existing, expected);
  switch (result.operation) {
    case 'none':
      return;
    case 'update':
      writer.update(result.object);
      return;
    case 'recreate':
      writer.delete(existing);
      writer.create(result.object);
  }
}
