import { goQuote } from '@podwright/kube-api';
import type { UserInfo } from '@podwright/kube-kinds';
import type {
  AuthorizationAttributes,
  Authorizer,
  PolicyRule,
  ResolvedRules,
  RuleResolver,
  Verdict,
} from './authorizer.ts';
import { aggregated } from './go-text.ts';
import { RBAC_GROUP, type RoleRef, type Subject } from './rbac-objects.ts';
import type { AppliedBinding, RbacSource, RoleReader } from './rbac-source.ts';
import { ruleAllows } from './rule-matching.ts';

/** Rules of the role that a binding refers to. `error`: why the role could not be resolved. */
type RoleRules = { rules: readonly PolicyRule[]; error?: string };

/** Role-based access control. Allows a request if any role bound to the user has a rule that allows it; never denies a request. */
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
    for (const scope of namespace === '' ? [''] : ['', namespace]) {
      let bytes = 0;
      for (const binding of this.#source.bindingsOf(user, scope)) {
        const role = findRole(this.#source, binding.roleRef, scope);
        bytes += BINDING_BYTES + (role?.sizeBytes ?? 0);
        if (bytes > MAX_ROLE_BYTES) {
          yield { binding, rules: [], error: tooLarge(user, scope) };
          break;
        }
        yield { binding, ...rulesOf(role, binding.roleRef) };
      }
    }
  }
}

/**
 * Maximum total size of the roles that a single authorization check reads in each scope (a namespace or the cluster). Decoding this much
 * takes 250 ms; without a limit, a user who may write roles in a namespace could block the server for seconds with 100 MB of roles. Roles
 * beyond the limit do not apply.
 */
const MAX_ROLE_BYTES = 8 << 20;

/** Size accounted for each binding in addition to its role, in bytes. */
const BINDING_BYTES = 256;

const tooLarge = ({ username }: UserInfo, namespace: string): string =>
  `the roles of user ${goQuote(username)} ${namespace === '' ? 'in the cluster' : `in namespace ${goQuote(namespace)}`} exceed ${MAX_ROLE_BYTES} bytes`;

/** Returns the rules of the role referenced by a binding in the given namespace ('' for a ClusterRoleBinding). */
export const roleRules = (source: RbacSource, roleRef: RoleRef, namespace: string): RoleRules =>
  rulesOf(findRole(source, roleRef, namespace), roleRef);

function findRole(source: RbacSource, { kind, name }: RoleRef, namespace: string): RoleReader | undefined {
  if (kind === 'Role') return source.role(namespace, name);
  return kind === 'ClusterRole' ? source.clusterRole(name) : undefined;
}

function rulesOf(role: RoleReader | undefined, { kind, name }: RoleRef): RoleRules {
  if (role !== undefined) return { rules: role.read().rules ?? [] };
  const isKnown = kind === 'Role' || kind === 'ClusterRole';
  const error = isKnown
    ? `${kind.toLowerCase()}.${RBAC_GROUP} ${goQuote(name)} not found`
    : `unsupported role reference kind: ${goQuote(kind)}`;
  return { rules: [], error };
}

/** Formats a binding as Kubernetes does, with the name before the namespace. */
function described({ name, namespace, roleRef, subject }: AppliedBinding): string {
  const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
  const binding = namespace === '' ? name : `${name}/${namespace}`;
  return `${kind} ${goQuote(binding)} of ${roleRef.kind} ${goQuote(roleRef.name)} to ${describedSubject(subject, namespace)}`;
}

function describedSubject({ kind, name, namespace = '' }: Subject, bindingNamespace: string): string {
  const isAccount = kind === 'ServiceAccount';
  return `${kind} ${goQuote(isAccount ? `${name}/${namespace === '' ? bindingNamespace : namespace}` : name)}`;
}
