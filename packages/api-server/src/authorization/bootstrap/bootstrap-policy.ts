/** Bootstrap roles and bindings of a new cluster, as in Kubernetes 1.36 with default feature gates. */
import type { KubeMetadata } from '@podwright/kube-api';
import { RBAC_GROUP, type Role, type RoleBinding } from '../rbac-objects.ts';
import { CLUSTER_BINDINGS } from './cluster-bindings.ts';
import { CLUSTER_CONTROLLERS } from './cluster-controllers.ts';
import { COMPONENT_ROLES } from './component-roles.ts';
import { NAMESPACE_BINDINGS, NAMESPACE_ROLES, OTHER_ROLES } from './namespace-policy.ts';
import { type RoleTable, ruleOfLine } from './role-table.ts';
import { type SubjectTable, subjectOfLine } from './subject-table.ts';
import { USER_ROLES } from './user-roles.ts';
import { WORKLOAD_CONTROLLERS } from './workload-controllers.ts';

export type BootstrapPolicy = {
  clusterRoles: Role[];
  clusterRoleBindings: RoleBinding[];
  roles: Role[];
  roleBindings: RoleBinding[];
};

/** Annotation that lets the server add missing rules and subjects at startup. `false` opts out. */
export const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

const API_VERSION = `${RBAC_GROUP}/v1`;
const AGGREGATE_TO = `${RBAC_GROUP}/aggregate-to-`;
const CONTROLLER = 'system:controller:';

/** Roles that aggregate the rules of all roles with the label `aggregate-to-NAME`. */
const AGGREGATED = ['admin', 'edit', 'view'];

/** Maps each bootstrap role to the role that aggregates its rules: `admin` aggregates `edit`, for example. */
const COLLECTED_BY: Readonly<Record<string, string>> = {
  edit: 'admin',
  view: 'edit',
  'system:aggregate-to-admin': 'admin',
  'system:aggregate-to-edit': 'edit',
  'system:aggregate-to-view': 'view',
};

/** Builds the bootstrap policy. Returns new objects on each call. */
export function bootstrapPolicy(): BootstrapPolicy {
  const controllers = prefixed({ ...CLUSTER_CONTROLLERS, ...WORKLOAD_CONTROLLERS });
  return {
    clusterRoles: rolesOf({ ...USER_ROLES, ...COMPONENT_ROLES, ...controllers }),
    clusterRoleBindings: bindingsOf({ ...CLUSTER_BINDINGS, ...controllerAccounts(Object.keys(controllers)) }),
    roles: Object.entries(NAMESPACE_ROLES).flatMap(([namespace, roles]) => rolesOf(roles, namespace)),
    roleBindings: Object.entries(NAMESPACE_BINDINGS).flatMap(([namespace, table]) => bindingsOf(table, namespace)),
  };
}

const prefixed = (table: RoleTable): RoleTable =>
  Object.fromEntries(Object.entries(table).map(([name, lines]) => [`${CONTROLLER}${name}`, lines]));

/** Binds each controller's role to the controller's service account. */
const controllerAccounts = (names: readonly string[]): SubjectTable =>
  Object.fromEntries(names.map((name) => [name, [`account kube-system/${name.slice(CONTROLLER.length)}`]]));

const rolesOf = (table: RoleTable, namespace = ''): Role[] =>
  Object.entries(table).map(([name, lines]) => ({
    ...(AGGREGATED.includes(name) ? { aggregationRule: collecting(name) } : {}),
    apiVersion: API_VERSION,
    kind: namespace === '' ? 'ClusterRole' : 'Role',
    metadata: metadataOf(name, namespace),
    rules: lines.map(ruleOfLine),
  }));

const collecting = (name: string) => ({ clusterRoleSelectors: [{ matchLabels: { [AGGREGATE_TO + name]: 'true' } }] });

const bindingsOf = (table: SubjectTable, namespace = ''): RoleBinding[] =>
  Object.entries(table).map(([name, lines]) => ({
    apiVersion: API_VERSION,
    kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: metadataOf(name, namespace),
    roleRef: {
      apiGroup: RBAC_GROUP,
      kind: namespace === '' ? 'ClusterRole' : 'Role',
      name: OTHER_ROLES[name] ?? name,
    },
    ...(lines.length === 0 ? {} : { subjects: lines.map(subjectOfLine) }),
  }));

function metadataOf(name: string, namespace: string): KubeMetadata {
  const collector = COLLECTED_BY[name];
  return {
    annotations: { [AUTO_UPDATE]: 'true' },
    labels: {
      'kubernetes.io/bootstrapping': 'rbac-defaults',
      ...(collector === undefined ? {} : { [AGGREGATE_TO + collector]: 'true' }),
    },
    name,
    ...(namespace === '' ? {} : { namespace }),
  };
}
