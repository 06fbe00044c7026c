import type { UserInfo } from '@podwright/kube-kinds';

/** The properties of a request by which it is classified. Fields that do not apply to the request are ''. */
export type FlowRequest = {
  user: Pick<UserInfo, 'username' | 'groups'>;
  /**
   * A FlowSchema that distinguishes users (`ByUser`) has one flow for each caller. The caller is the user, or the namespace of a service
   * account, because a user who may create one service account of a namespace may create many.
   */
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
