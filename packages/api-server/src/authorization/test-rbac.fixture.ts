import type { ObjectStore } from '@podwright/api-machinery';
import { MemoryStore } from '@podwright/api-machinery';
import type { ApiObject, UserInfo } from '@podwright/kube-kinds';
import type { AuthorizationAttributes, PolicyRule } from './authorizer.ts';
import { ruleOfLine } from './bootstrap/role-table.ts';
import { subjectOfLine } from './bootstrap/subject-table.ts';
import { RBAC_GROUP, type Role, type RoleBinding } from './rbac-objects.ts';

export const ALICE: UserInfo = { username: 'alice', groups: ['dev', 'system:authenticated'] };

/** Parses rules in the line format used by the bootstrap policy tables. */
export const rules = (...lines: string[]): PolicyRule[] => lines.map(ruleOfLine);

/** Returns the metadata of an object given as `NAMESPACE/NAME`, or as `NAME` if it is cluster-scoped. */
const metadataOf = (path: string): ApiObject['metadata'] => {
  const [name, namespace] = path.split('/').reverse();
  return { name: name!, ...(namespace === undefined ? {} : { namespace }) };
};

export const role = (path: string, ...lines: string[]): Role => ({
  kind: path.includes('/') ? 'Role' : 'ClusterRole',
  metadata: metadataOf(path),
  rules: rules(...lines),
});

/** Builds a binding to `Role/NAME` or `ClusterRole/NAME`. */
export const binding = (path: string, to: string, ...subjects: string[]): RoleBinding => {
  const [kind = '', name = ''] = to.split('/');
  return {
    kind: path.includes('/') ? 'RoleBinding' : 'ClusterRoleBinding',
    metadata: metadataOf(path),
    roleRef: { apiGroup: RBAC_GROUP, kind, name },
    subjects: subjects.map(subjectOfLine),
  };
};

export const keyOf = ({ kind = '', metadata }: ApiObject) => ({
  resource: `${kind.toLowerCase()}s.${RBAC_GROUP}`,
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
});

export function storeOf(...objects: ApiObject[]): ObjectStore {
  const store = new MemoryStore();
  for (const object of objects) store.create(keyOf(object), object);
  return store;
}

/** Parses a request: `VERB GROUP RESOURCE[/SUBRESOURCE] [NAMESPACE/NAME]` or `VERB /PATH`. */
export function request(line: string, user: UserInfo = ALICE): AuthorizationAttributes {
  const [verb = '', first = '', what = '', path = '/'] = line.split(' ');
  const [resource = '', subresource = ''] = what.split('/');
  const [namespace = '', name = ''] = path.split('/');
  const isResourceRequest = what !== '';
  const apiGroup = first === 'core' || !isResourceRequest ? '' : first;
  return { user, verb, isResourceRequest, apiGroup, resource, subresource, namespace, name, path: first };
}
