import type { UserInfo } from '@podwright/kube-kinds';

/** The properties used to classify a request. Fields that do not apply to the request are ''. */
export type FlowRequest = {
  user: Pick<UserInfo, 'username' | 'groups'>;
  /**
   * A FlowSchema that distinguishes users (`ByUser`) has one flow per caller. The caller is the user or, for a service account, its
   * namespace, because a user who may create one service account in a namespace may create many.
   */
  caller: string;
  info: {
    isResourceRequest: boolean;
    path: string;
    verb: string;
    apiGroup: string;
    resource: string;
    subresource: string;
    /** The namespace of the requested object; '' for cluster-scoped objects. */
    namespace: string;
  };
};
