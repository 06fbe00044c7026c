import type { UserInfo } from './authorizer.ts';
import type { Role, RoleRef, Subject } from './rbac-objects.ts';

/** A binding that applies to a user, by the first of its subjects that is the user. */
export type AppliedBinding = { name: string; namespace: string; roleRef: RoleRef; subject: Subject };

/** A role that need not be decoded yet. */
export type RoleReader = { sizeBytes: number; read(): Role };

/** Reads the objects of RBAC in their newest state. */
export interface RbacSource {
  role(namespace: string, name: string): RoleReader | undefined;
  clusterRole(name: string): RoleReader | undefined;
  /** The RoleBindings of a namespace that apply to a user, in the order of their names; in '' the ClusterRoleBindings. */
  bindingsOf(user: UserInfo, namespace: string): AppliedBinding[];
}
