import type {
  AuthorizationAttributes,
  Authorizer,
  PolicyRule,
  ResolvedRules,
  RuleResolver,
  UserInfo,
  Verdict,
} from './authorizer.ts';
import { aggregated, quoted } from './go-text.ts';
import { RBAC_GROUP, type RoleRef, type Subject } from './rbac-objects.ts';
import type { AppliedBinding, RbacSource } from './rbac-source.ts';
import { ruleAllows } from './rule-matching.ts';

/** The rules of the role to which a binding refers, or why there are none. */
type RoleRules = { rules: readonly PolicyRule[]; error?: string };

/** Role-based access control: a request is allowed by a rule of a role that a binding gives to the user. RBAC never denies. */
export class RbacAuthorizer implements Authorizer, RuleResolver {
  readonly #source: RbacSource;

  constructor(source: RbacSource) {
    this.#source = source;
  }

  authorize(attributes: AuthorizationAttributes): Verdict {
    const errors: string[] = [];
    for (const { binding, rules, error } of this.#grants(attributes.user, attributes.namespace)) {
      if (rules.some((rule) => ruleAllows(rule, attributes)))
        return { decision: 'allow', reason: `RBAC: allowed by ${described(binding)}` };
      if (error !== undefined) errors.push(error);
    }
    return { decision: 'no opinion', reason: errors.length === 0 ? '' : `RBAC: ${aggregated(errors)}` };
  }

  rulesFor(user: UserInfo, namespace: string): ResolvedRules {
    const grants = [...this.#grants(user, namespace)];
    return {
      rules: grants.flatMap(({ rules }) => rules),
      isIncomplete: false,
      errors: grants.flatMap(({ error }) => error ?? []),
    };
  }

  *#grants(user: UserInfo, namespace: string): Generator<RoleRules & { binding: AppliedBinding }> {
    for (const scope of namespace === '' ? [''] : ['', namespace])
      for (const binding of this.#source.bindingsOf(user, scope))
        yield { binding, ...roleRules(this.#source, binding.roleRef, scope) };
  }
}

/** The rules of a role to which a binding of a namespace refers; '' for a ClusterRoleBinding. */
export function roleRules(source: RbacSource, { kind, name }: RoleRef, namespace: string): RoleRules {
  if (kind !== 'Role' && kind !== 'ClusterRole')
    return { rules: [], error: `unsupported role reference kind: ${quoted(kind)}` };
  const role = kind === 'Role' ? source.role(namespace, name) : source.clusterRole(name);
  if (role !== undefined) return { rules: role.rules ?? [] };
  return { rules: [], error: `${kind.toLowerCase()}.${RBAC_GROUP} ${quoted(name)} not found` };
}

/** Kubernetes writes the name before the namespace. */
function described({ name, namespace, roleRef, subject }: AppliedBinding): string {
  const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
  const binding = namespace === '' ? name : `${name}/${namespace}`;
  return `${kind} ${quoted(binding)} of ${roleRef.kind} ${quoted(roleRef.name)} to ${describedSubject(subject, namespace)}`;
}

function describedSubject({ kind, name, namespace = '' }: Subject, bindingNamespace: string): string {
  const isAccount = kind === 'ServiceAccount';
  return `${kind} ${quoted(isAccount ? `${name}/${namespace === '' ? bindingNamespace : namespace}` : name)}`;
}
