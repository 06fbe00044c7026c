import type { UserInfo } from '@podwright/kube-kinds';

/** The request to authorize. Fields that do not apply are empty strings. */
export type AuthorizationAttributes = {
  user: UserInfo;
  /** `get`, `list`, `create`, …; for a non-resource request, the HTTP method in lower case. */
  verb: string;
  /** True for resource requests. For non-resource requests, only `path` applies. */
  isResourceRequest: boolean;
  apiGroup: string;
  /** The plural resource name, without the subresource. */
  resource: string;
  subresource: string;
  /** Empty for cluster-scoped objects and for lists and watches across all namespaces. */
  namespace: string;
  /** Empty for lists, `deletecollection` requests, and most creations. */
  name: string;
  /** The URL path of the request. */
  path: string;
  /** The field selector of a `list`, `watch` or `deletecollection` request. */
  fieldSelector?: string;
};

/** `no opinion` leaves the decision to the next authorizer. If no authorizer has an opinion, the request is forbidden. */
export type Decision = 'allow' | 'deny' | 'no opinion';

/**
 * A decision and its reason, worded as in Kubernetes; the reason is empty if there is none. It is shown in SubjectAccessReviews and in
 * Forbidden messages.
 */
export type Verdict = { decision: Decision; reason: string };

/** Decides whether a user may make a request. */
export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Verdict;
}

/** A rule of a Role or ClusterRole. It lists either resources or URLs; null means the same as absent. */
export type PolicyRule = {
  verbs: string[];
  apiGroups?: string[] | null;
  resources?: string[] | null;
  /** If empty or absent, the rule applies to all objects. */
  resourceNames?: string[] | null;
  nonResourceURLs?: string[] | null;
};

/** The rules that apply to a user. Rules can only grant permissions, so each of them applies even if others could not be resolved. */
export type ResolvedRules = {
  rules: PolicyRule[];
  /** True if the user may have permissions that cannot be enumerated. */
  isIncomplete: boolean;
  /** Errors that kept rules from being resolved. */
  errors: string[];
};

/**
 * Lists the rules that apply to a user in a namespace, including the cluster-wide ones. If the namespace is empty, lists only the
 * cluster-wide rules.
 */
export interface RuleResolver {
  rulesFor(user: UserInfo, namespace: string): ResolvedRules;
}
