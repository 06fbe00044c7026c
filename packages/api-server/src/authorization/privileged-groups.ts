import type { Authorizer } from './authorizer.ts';

/** Allows every request of the members of some groups. */
export function privilegedGroups(groups: readonly string[]): Authorizer {
  return {
    authorize: ({ user }) => ({
      decision: user.groups.some((group) => groups.includes(group)) ? 'allow' : 'no opinion',
      reason: '',
    }),
  };
}
