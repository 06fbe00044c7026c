/** A requesting user, in the form of TokenReview and SubjectAccessReview. */
export type UserInfo = {
  username: string;
  groups: string[];
  uid?: string;
  extra?: Record<string, string[]>;
};

export const MASTERS = 'system:masters';
export const NODES = 'system:nodes';
export const BOOTSTRAPPERS = 'system:bootstrappers';
export const AUTHENTICATED = 'system:authenticated';

export const ADMIN: UserInfo = { username: 'kubernetes-admin', groups: [MASTERS, AUTHENTICATED] };
export const ANONYMOUS: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

const NODE_USER = 'system:node:';

/** The name of the node that a user is, if it is one. */
export function nodeNameOf({ username, groups }: UserInfo): string | undefined {
  const isNode = username.startsWith(NODE_USER) && groups.includes(NODES);
  return isNode ? username.slice(NODE_USER.length) : undefined;
}
