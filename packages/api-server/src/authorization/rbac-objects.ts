import type { ApiObject } from '@podwright/kube-kinds';
import type { PolicyRule } from './authorizer.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** A label selector (meta/v1 LabelSelector). */
export type LabelSelector = {
  matchLabels?: Record<string, string> | null;
  matchExpressions?: { key: string; operator: string; values?: string[] | null }[] | null;
};

/** A Role or ClusterRole. Only ClusterRoles have an aggregation rule. */
export type Role = ApiObject & {
  rules?: PolicyRule[] | null;
  aggregationRule?: { clusterRoleSelectors?: LabelSelector[] | null } | null;
};

export type RoleRef = { apiGroup: string; kind: string; name: string };

export type Subject = { kind: string; name: string; apiGroup?: string; namespace?: string };

/** A RoleBinding or ClusterRoleBinding. */
export type RoleBinding = ApiObject & { subjects?: Subject[] | null; roleRef: RoleRef };

/** Whether a ClusterRole's rules are aggregated from other ClusterRoles. */
export const isAggregated = ({ aggregationRule }: Role): boolean =>
  (aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0;
