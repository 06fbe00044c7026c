import type { ObjectStore } from '@podwright/api-machinery';
import type { UserInfo } from '@podwright/kube-kinds';
import type {
  AuthorizationAttributes,
  Authorizer,
  PolicyRule,
  ResolvedRules,
  RuleResolver,
  Verdict,
} from '../authorizer.ts';
import { nodeOfUser } from '../known-users.ts';
import { ruleAllows } from '../rule-matching.ts';
import { NodeRelations } from './node-relations.ts';
import { NODE_RULES } from './node-rules.ts';

export type NodeAuthorizerParts = {
  /** The store in which pods and other objects are looked up. It must have been opened with `NODE_INDEXES`. */
  store: ObjectStore;
  /** Rules of the ClusterRole `system:node`, which apply to resources where a kubelet may access all objects. */
  rules: readonly PolicyRule[];
};

/**
 * Restricts kubelets to their node's own objects and to objects referenced by the node's pods (upstream's Node authorizer). Writes to these
 * objects are further restricted by the NodeRestriction admission plugin. Never denies requests, because RBAC may grant additional
 * permissions.
 */
export class NodeAuthorizer implements Authorizer, RuleResolver {
  readonly #relations: NodeRelations;
  readonly #rules: readonly PolicyRule[];

  constructor({ store, rules }: NodeAuthorizerParts) {
    this.#relations = new NodeRelations(store);
    this.#rules = rules;
  }

  authorize(attributes: AuthorizationAttributes): Verdict {
    const node = nodeOfUser(attributes.user);
    if (node === undefined) return { decision: 'no opinion', reason: '' };
    if (node === '')
      return { decision: 'no opinion', reason: `unknown node for user ${JSON.stringify(attributes.user.username)}` };
    const refusal = this.#refusalOf(attributes, node);
    return refusal === undefined ? { decision: 'allow', reason: '' } : { decision: 'no opinion', reason: refusal };
  }

  rulesFor(user: UserInfo): ResolvedRules {
    if (nodeOfUser(user) === undefined) return { rules: [], isIncomplete: false, errors: [] };
    return { rules: [], isIncomplete: true, errors: ['node authorizer does not support user rule resolution'] };
  }

  /** Returns why the request is not allowed, possibly '', or `undefined` if it is allowed. */
  #refusalOf(attributes: AuthorizationAttributes, node: string): string | undefined {
    const { isResourceRequest, apiGroup, resource } = attributes;
    const own = NODE_RULES.get(apiGroup === '' ? resource : `${resource}.${apiGroup}`);
    if (isResourceRequest && own !== undefined) return own(attributes, { node, relations: this.#relations });
    return this.#rules.some((rule) => ruleAllows(rule, attributes)) ? undefined : '';
  }
}
