import type { UserInfo } from '@podwright/kube-kinds';

/** Whether a user may perform a request. Fields that do not apply are ''. */
export type PolicyQuestion = {
  user: UserInfo;
  verb: string;
  isResourceRequest: boolean;
  apiGroup: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  /** The URL path, for requests that are not for a resource. */
  path: string;
  fieldSelector?: string;
};

export type PolicyVerdict = { decision: 'allow' | 'deny' | 'no opinion'; reason: string };

/** Authorizes users for expressions of policies. */
export type PolicyAuthorizer = { authorize(question: PolicyQuestion): PolicyVerdict };
