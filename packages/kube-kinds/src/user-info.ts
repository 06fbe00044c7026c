/** An authenticated user, with the fields of TokenReview and SubjectAccessReview. */
export type UserInfo = {
  username: string;
  groups: readonly string[];
  uid?: string;
  extra?: Readonly<Record<string, readonly string[]>>;
};

/** The group whose members are permitted everything, regardless of RBAC. */
export const MASTERS = 'system:masters';
