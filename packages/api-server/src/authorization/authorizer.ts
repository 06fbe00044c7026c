import type { UserInfo } from '@podwright/kube-kinds';

/** The request to authorize. Fields that do not apply are ''. */
export type AuthorizationAttributes = {
  user: UserInfo;
  /** `get`, `list`, `create`, …; for a non-resource request, the HTTP method in lower case. */
  verb: string;
  /** Whether the request is for API objects. Otherwise only `path` applies. */
  isResourceRequest: boolean;
  apiGroup: string;
  /** The plural name, without the subresource. */
  resource: string;
  subresource: string;
  /** '' for cluster-scoped objects, and for lists and watches across namespaces. */
  namespace: string;
  /** '' for lists, deletions of collections, and most creations. */
  name: string;
  /** The URL path of the request. */
  path: string;
  /** The field selector of a list, a watch, or a deletion of a collection. */
  fieldSelector?: string;
};

/** `no opinion` leaves the decision to the next authorizer. If no authorizer has an opinion, the request is forbidden. */
export type Decision = 'allow' | 'deny' | 'no opinion';

/**
 * A decision and its reason in Kubernetes' words, or '' without a reason. SubjectAccessReviews and Forbidden messages report the reason.
 */
export type Verdict = { decision: Decision; reason: string };

/** Decides whether a user may make a request. */
export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Verdict;
}

/** A rule of a Role. It has either resources or URLs; null is the same as absent. */
export type PolicyRule = {
  verbs: string[];
  apiGroups?: string[] | null;
  resources?: string[] | null;
  /** Without names, the rule applies to all objects. */
  resourceNames?: string[] | null;
  nonResourceURLs?: string[] | null;
};

/** The rules that apply to a user. Rules only allow, so each of them applies even if others could not be resolved. */
export type ResolvedRules = {
  rules: PolicyRule[];
  /** Whether the user may have permissions that cannot be listed. */
  isIncomplete: boolean;
  /** Errors that kept rules from being resolved. */
  errors: string[];
};

/** Lists the rules that apply to a user in a namespace, including cluster-wide rules; for '', only the cluster-wide rules. */
export interface RuleResolver {
  rulesFor(user: UserInfo, namespace: string): ResolvedRules;
}

/** The group whose members may do everything, regardless of RBAC objects. */
export const MASTERS = 'system:masters';
