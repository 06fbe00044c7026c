/** The role that lets users read `metrics.k8s.io`. In other clusters, it is part of metrics-server. */
import { RBAC_GROUP } from '../rbac-objects.ts';
import { AUTO_UPDATE, type BootstrapPolicy } from './bootstrap-policy.ts';

const AGGREGATE_TO = `${RBAC_GROUP}/aggregate-to-`;

/** Builds a role that lets users who may read a namespace's objects also read its pods' usage. */
export function usagePolicy(): BootstrapPolicy {
  const labels = Object.fromEntries(['admin', 'edit', 'view'].map((role) => [AGGREGATE_TO + role, 'true']));
  const role = {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'system:aggregated-metrics-reader', labels, annotations: { [AUTO_UPDATE]: 'true' } },
    rules: [{ apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
  };
  return { clusterRoles: [role], clusterRoleBindings: [], roles: [], roleBindings: [] };
}
