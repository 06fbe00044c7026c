import type { UserInfo } from '@podwright/kube-kinds';

/** What the classification of a request depends on. Fields that do not apply are ''. */
export type FlowRequest = {
  user: Pick<UserInfo, 'username' | 'groups'>;
  /** The requests of one caller are one flow, if the FlowSchema distinguishes users. Usually the user, or a group of users that one user may create. */
  caller: string;
  info: {
    isResourceRequest: boolean;
    path: string;
    verb: string;
    apiGroup: string;
    resource: string;
    subresource: string;
    /** '' for cluster-scoped objects. */
    namespace: string;
  };
};
