import type { UserInfo } from '@podwright/kube-kinds';
import type { Role, RoleRef, Subject } from './rbac-objects.ts';

/** A binding that applies to a user. `subject`: the first subject matching the user. */
export type AppliedBinding = { name: string; namespace: string; roleRef: RoleRef; subject: Subject };

/** Reads the role that a binding refers to. The size of the encoded role is available before it is decoded. */
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
