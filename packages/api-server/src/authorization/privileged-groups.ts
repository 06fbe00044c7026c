import type { Authorizer } from './authorizer.ts';

/** An authorizer that allows every request of the members of the given groups. */
export function privilegedGroups(groups: readonly string[]): Authorizer {
  return {
    authorize: ({ user }) => ({
      decision: user.groups.some((group) => groups.includes(group)) ? 'allow' : 'no opinion',
      reason: '',
    }),
  };
}
