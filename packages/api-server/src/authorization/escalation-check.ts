import { isDeepStrictEqual } from 'node:util';
import { goQuote } from '@podwright/kube-api';
import { type ApiObject, MASTERS, type UserInfo } from '@podwright/kube-kinds';
import type { Authorizer, PolicyRule, RuleResolver } from './authorizer.ts';
import { escalationMessage } from './escalation-message.ts';
import { roleRules } from './rbac-authorizer.ts';
import { isAggregated, RBAC_GROUP, type Role, type RoleBinding, type RoleRef } from './rbac-objects.ts';
import type { RbacSource } from './rbac-source.ts';
import { coverageOf } from './rule-coverage.ts';

/** A request to create or update an RBAC object. */
export type RbacWrite = {
  user: UserInfo;
  resource: 'roles' | 'clusterroles' | 'rolebindings' | 'clusterrolebindings';
  /** The object's namespace; empty for cluster-scoped objects. */
  namespace: string;
  /** The object's name in the URL; empty for POST. */
  name: string;
  object: ApiObject;
  /** The stored object before an update; absent when creating. */
  old?: ApiObject | undefined;
};

/**
 * Why a write is refused. For `Forbidden`, the message is only the part after `roles.rbac.authorization.k8s.io "NAME" is forbidden: `; for
 * other reasons it is complete.
 */
export type RbacRefusal = { reason: 'Forbidden' | 'NotFound' | 'InternalError'; message: string };

export type EscalationCheckParts = {
  authorizer: Authorizer;
  /** Resolves only RBAC rules: users cannot grant permissions they have from other authorizers. */
  rules: RuleResolver;
  source: RbacSource;
};

/**
 * Prevents privilege escalation: users may only write roles whose permissions they hold themselves, and bindings to such roles. Exceptions:
 * the verb `escalate` on roles, the verb `bind` on the binding's role, and the group system:masters.
 */
export class EscalationCheck {
  readonly #parts: EscalationCheckParts;

  constructor(parts: EscalationCheckParts) {
    this.#parts = parts;
  }

  /** Returns why the write is refused, or `undefined` if it is allowed. `write.object` must be the object as it will be stored. */
  refusalOf(write: RbacWrite): RbacRefusal | undefined {
    const { user, resource, object, old } = write;
    if (user.groups.includes(MASTERS)) return undefined;
    const isRole = resource === 'roles' || resource === 'clusterroles';
    if (isRole && this.#may('escalate', write)) return undefined;
    if (old !== undefined && differOnlyForCollection(object, old)) return undefined;
    return isRole ? this.#roleRefusal(write) : this.#bindingRefusal(write, (object as RoleBinding).roleRef);
  }

  #roleRefusal(write: RbacWrite): RbacRefusal | undefined {
    const role = write.object as Role;
    const refusal = this.#grantRefusal(write, role.rules ?? []);
    if (refusal !== undefined || write.resource === 'roles') return refusal;
    const collects = isAggregated(role) || (write.old !== undefined && isAggregated(write.old as Role));
    if (!collects || this.#grantRefusal(write, ALL_RIGHTS) === undefined) return undefined;
    return { reason: 'Forbidden', message: 'must have cluster-admin privileges to use the aggregationRule' };
  }

  #bindingRefusal(write: RbacWrite, { apiGroup, kind, name }: RoleRef): RbacRefusal | undefined {
    const resource = ROLE_RESOURCES.get(kind);
    if (resource !== undefined && this.#may('bind', { ...write, apiGroup, resource, name })) return undefined;
    const { rules, error } = roleRules(this.#parts.source, { apiGroup, kind, name }, write.namespace);
    if (error === undefined) return this.#grantRefusal(write, rules);
    if (resource === undefined) return { reason: 'InternalError', message: error };
    return { reason: 'NotFound', message: `${resource}.${RBAC_GROUP} ${goQuote(name)} not found` };
  }

  #may(verb: string, { user, namespace, ...object }: Permission): boolean {
    const { apiGroup = RBAC_GROUP, resource, name } = object;
    const request = { isResourceRequest: true, apiGroup, resource, subresource: '', namespace, name, path: '' };
    return this.#parts.authorizer.authorize({ user, verb, ...request }).decision === 'allow';
  }

  #grantRefusal({ user, namespace }: RbacWrite, rules: readonly PolicyRule[]): RbacRefusal | undefined {
    const own = this.#parts.rules.rulesFor(user, namespace);
    const coverage = coverageOf(own.rules, rules);
    if (coverage.isComplete && coverage.missing.length === 0) return undefined;
    return { reason: 'Forbidden', message: escalationMessage(user, coverage, own.errors) };
  }
}

type Permission = { user: UserInfo; namespace: string; apiGroup?: string; resource: string; name: string };

const ROLE_RESOURCES: ReadonlyMap<string, string> = new Map([
  ['Role', 'roles'],
  ['ClusterRole', 'clusterroles'],
]);

/** All permissions. A user needs them to write an aggregation rule, because it can pull in any rule. */
const ALL_RIGHTS: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** Whether an update changes only `ownerReferences` and `finalizers`, as the garbage collector does, or `managedFields`. */
const differOnlyForCollection = (object: ApiObject, old: ApiObject): boolean =>
  isDeepStrictEqual(withoutCollection(object), withoutCollection(old));

function withoutCollection({ metadata, ...fields }: ApiObject) {
  const { ownerReferences: _, finalizers: __, managedFields: ___, ...others } = metadata;
  return { ...fields, metadata: others };
}
