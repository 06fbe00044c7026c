import type { ApiObject } from '../api-object.ts';
import type { PolicyRule } from './authorizer.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** A label selector. */
export type LabelSelector = {
  matchLabels?: Record<string, string> | null;
  matchExpressions?: { key: string; operator: string; values?: string[] | null }[] | null;
};

/** A Role or ClusterRole. Only a ClusterRole has an aggregation rule. */
export type Role = ApiObject & {
  rules?: PolicyRule[] | null;
  aggregationRule?: { clusterRoleSelectors?: LabelSelector[] | null } | null;
};

export type RoleRef = { apiGroup: string; kind: string; name: string };

export type Subject = { kind: string; name: string; apiGroup?: string; namespace?: string };

/** A RoleBinding or ClusterRoleBinding. */
export type RoleBinding = ApiObject & { subjects?: Subject[] | null; roleRef: RoleRef };

/** Whether the rules of a ClusterRole are collected from others. */
export const isAggregated = ({ aggregationRule }: Role): boolean =>
  (aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0;

/** The name of a service account as a user. */
export const accountUser = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`;
