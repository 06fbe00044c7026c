/** A user who was authenticated, in the form of TokenReview and SubjectAccessReview. */
export type UserInfo = {
  username: string;
  groups: readonly string[];
  uid?: string;
  extra?: Readonly<Record<string, readonly string[]>>;
};

/** The request that is to be authorized. Fields that do not apply are ''. */
export type AuthorizationAttributes = {
  user: UserInfo;
  /** `get`, `list`, `create`, …; of a request for a path the method in lower case. */
  verb: string;
  /** Whether the request is for objects of the API. Otherwise only `path` applies. */
  isResourceRequest: boolean;
  apiGroup: string;
  /** The plural, without the subresource. */
  resource: string;
  subresource: string;
  /** '' for cluster-scoped objects, and for lists and watches across namespaces. */
  namespace: string;
  /** '' for lists, collections and most creations. */
  name: string;
  /** The path of the URL. */
  path: string;
  /** The field selector of a list, watch or deletion of a collection. */
  fieldSelector?: string;
};

/** An authorizer without opinion leaves the decision to the next one. If none has an opinion, the request is forbidden. */
export type Decision = 'allow' | 'deny' | 'no opinion';

/** A decision with its reason in the words of Kubernetes, or ''. SubjectAccessReviews report the reason, and so do refusals. */
export type Verdict = { decision: Decision; reason: string };

/** Decides whether a user may make a request. */
export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Verdict;
}

/** What a rule allows, in the form of a Role. A rule has resources or URLs; null is the same as absent. */
export type PolicyRule = {
  verbs: string[];
  apiGroups?: string[] | null;
  resources?: string[] | null;
  /** Without names the rule applies to all objects. */
  resourceNames?: string[] | null;
  nonResourceURLs?: string[] | null;
};

/** The rules of a user. Rules only allow, so each of them applies even if others could not be found. */
export type ResolvedRules = {
  rules: PolicyRule[];
  /** Whether the user may have rights that cannot be listed. */
  isIncomplete: boolean;
  /** Why rules are missing. */
  errors: string[];
};

/** Lists what a user may do in a namespace; in '' only across the cluster. */
export interface RuleResolver {
  rulesFor(user: UserInfo, namespace: string): ResolvedRules;
}

/** The group whose members have all rights, whatever the objects of RBAC are. */
export const MASTERS = 'system:masters';
