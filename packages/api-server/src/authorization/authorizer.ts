import type { UserInfo } from '@podwright/kube-kinds';

/** The request to authorize. Fields that do not apply are empty strings. */
export type AuthorizationAttributes = {
  user: UserInfo;
  /** `get`, `list`, `create`, …; for non-resource requests, the lowercase HTTP method. */
  verb: string;
  /** True for resource requests. For non-resource requests, only `path` applies. */
  isResourceRequest: boolean;
  apiGroup: string;
  /** The plural resource name, without the subresource. */
  resource: string;
  subresource: string;
  /** The namespace; empty for cluster-scoped objects and for lists and watches across all namespaces. */
  namespace: string;
  /** The object's name; empty for list, `deletecollection` and most create requests. */
  name: string;
  /** The request's URL path. */
  path: string;
  /** The field selector of a `list`, `watch` or `deletecollection` request. */
  fieldSelector?: string;
};

/** `no opinion` defers to the next authorizer. If no authorizer has an opinion, the request is forbidden. */
export type Decision = 'allow' | 'deny' | 'no opinion';

/**
 * A decision and its reason, worded as in Kubernetes; '' if there is none. The reason is shown in SubjectAccessReviews and Forbidden
 * messages.
 */
export type Verdict = { decision: Decision; reason: string };

/** Decides whether a user may make a request. */
export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Verdict;
}

/** A rule of a Role or ClusterRole, listing either resources or URLs. null is equivalent to absent. */
export type PolicyRule = {
  verbs: string[];
  apiGroups?: string[] | null;
  resources?: string[] | null;
  /** Names of the objects that the rule applies to. If empty or absent, it applies to all objects. */
  resourceNames?: string[] | null;
  nonResourceURLs?: string[] | null;
};

/** The rules that apply to a user. Rules can only grant permissions, so those that could be resolved apply even if others could not. */
export type ResolvedRules = {
  rules: PolicyRule[];
  /** Whether the user might have further permissions that cannot be enumerated. */
  isIncomplete: boolean;
  /** Errors for rules that could not be resolved, such as those of missing roles. */
  errors: string[];
};

/**
 * Returns the rules that apply to a user in a namespace, including cluster-wide ones. If the namespace is empty, returns only the
 * cluster-wide rules.
 */
export interface RuleResolver {
  rulesFor(user: UserInfo, namespace: string): ResolvedRules;
}
