/** An authenticated user, with the fields of TokenReview and SubjectAccessReview. */
export type UserInfo = {
  username: string;
  groups: readonly string[];
  uid?: string;
  extra?: Readonly<Record<string, readonly string[]>>;
};

/** Members of this group may do anything, regardless of RBAC. */
export const MASTERS = 'system:masters';
