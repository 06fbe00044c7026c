import type { Authorizer } from './authorizer.ts';

/** Returns an authorizer that allows all requests by members of the given groups. */
export function privilegedGroups(groups: readonly string[]): Authorizer {
  return {
    authorize: ({ user }) => ({
      decision: user.groups.some((group) => groups.includes(group)) ? 'allow' : 'no opinion',
      reason: '',
    }),
  };
}
