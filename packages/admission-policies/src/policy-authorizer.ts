import type { UserInfo } from '@podwright/kube-kinds';

/** A question about what a user may do. Fields that do not apply are ''. */
export type PolicyQuestion = {
  user: UserInfo;
  verb: string;
  isResourceRequest: boolean;
  apiGroup: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  /** The URL path, for questions that are not about resources. */
  path: string;
  fieldSelector?: string;
};

export type PolicyVerdict = { decision: 'allow' | 'deny' | 'no opinion'; reason: string };

/** Answers questions of policies about users. */
export type PolicyAuthorizer = { authorize(question: PolicyQuestion): PolicyVerdict };
