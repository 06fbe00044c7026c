import type { UserInfo } from '@podwright/kube-kinds';

/** An authorization query: may a user make this request? Fields that do not apply are ''. */
export type PolicyQuestion = {
  user: UserInfo;
  verb: string;
  isResourceRequest: boolean;
  apiGroup: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  /** The URL path of a non-resource request. */
  path: string;
  fieldSelector?: string;
};

export type PolicyVerdict = { decision: 'allow' | 'deny' | 'no opinion'; reason: string };

/** Checks the permissions of users for policy expressions. */
export type PolicyAuthorizer = { authorize(question: PolicyQuestion): PolicyVerdict };
