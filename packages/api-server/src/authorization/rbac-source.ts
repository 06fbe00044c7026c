import type { UserInfo } from '@podwright/kube-kinds';
import type { Role, RoleRef, Subject } from './rbac-objects.ts';

/** A binding that applies to a user. `subject`: the first subject matching the user. */
export type AppliedBinding = { name: string; namespace: string; roleRef: RoleRef; subject: Subject };

/** Decodes a role lazily. The encoded size is known up front. */
export type RoleReader = { sizeBytes: number; read(): Role };

/** Reads the current state of RBAC objects. */
export interface RbacSource {
  role(namespace: string, name: string): RoleReader | undefined;
  clusterRole(name: string): RoleReader | undefined;
  /**
   * Returns the RoleBindings in a namespace that apply to a user, ordered by name. If the namespace is empty, returns the
   * ClusterRoleBindings.
   */
  bindingsOf(user: UserInfo, namespace: string): AppliedBinding[];
}
