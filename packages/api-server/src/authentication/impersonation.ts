/** Requests in the name of another user, with upstream's constrained modes (KEP 5284) and the older one with all verbs. */
import type { UserInfo } from '@podwright/kube-kinds';
import type { AuthorizationAttributes, Authorizer } from '../authorization/authorizer.ts';
import { accountOfUser, nodeOfUserName } from '../authorization/known-users.ts';
import { ImpersonationCheck } from './impersonation-check.ts';
import type { RequestedUser } from './impersonation-headers.ts';

/** One way to impersonate, which has verbs of its own. */
type Mode = {
  name: string;
  /** Whether the mode is for this user and this requestor. */
  applies: (requested: RequestedUser, requestor: UserInfo) => boolean;
};

const NODE_NAME = 'authentication.kubernetes.io/node-name';

const ASSOCIATED_NODE = 'associated-node';

const MODES: readonly Mode[] = [
  {
    name: ASSOCIATED_NODE,
    applies: (requested, requestor) => isNamedOnly(requested) && isOwnNode(requested, requestor),
  },
  {
    name: 'arbitrary-node',
    applies: (requested) => isNamedOnly(requested) && nodeOfUserName(requested.username) !== undefined,
  },
  {
    name: 'serviceaccount',
    applies: (requested) => isNamedOnly(requested) && accountOfUser(requested.username) !== undefined,
  },
  {
    name: 'user-info',
    applies: ({ username }) => nodeOfUserName(username) === undefined && accountOfUser(username) === undefined,
  },
];

/**
 * Returns the user in whose name the request is made. Throws a Forbidden error, that of the first mode which is for this user, if none allows
 * it. `attributes` are those of the request, with the user who makes it.
 */
export function impersonatedUser(
  authorizer: Authorizer,
  requested: RequestedUser,
  attributes: AuthorizationAttributes,
): UserInfo {
  let refusal: unknown;
  const attempts = MODES.filter(({ applies }) => applies(requested, attributes.user)).map(
    ({ name }) =>
      () =>
        constrained(name, requested, { authorizer, attributes }),
  );
  const legacy = new ImpersonationCheck({
    authorizer,
    requestor: attributes.user,
    verb: 'impersonate',
    isConstrained: false,
  });
  for (const attempt of [...attempts, () => legacy.userOf(requested)]) {
    try {
      return attempt();
    } catch (error) {
      refusal ??= error;
    }
  }
  throw refusal;
}

type Request = { authorizer: Authorizer; attributes: AuthorizationAttributes };

function constrained(mode: string, requested: RequestedUser, { authorizer, attributes }: Request): UserInfo {
  const isAssociated = mode === ASSOCIATED_NODE;
  const requestor: UserInfo = isAssociated ? withoutExtra(attributes.user) : attributes.user;
  const check = new ImpersonationCheck({
    authorizer,
    requestor,
    verb: `impersonate:${mode}`,
    isConstrained: true,
    ...(isAssociated ? { anyName: true } : {}),
  });
  check.require({ ...attributes, user: requestor, verb: `impersonate-on:${mode}:${attributes.verb}` });
  return check.userOf(requested);
}

const isNamedOnly = ({ uid, groups, extra }: RequestedUser): boolean =>
  uid === '' && groups.length === 0 && extra.size === 0;

/** Whether the user is the node on which the requesting service account's pod runs. */
function isOwnNode({ username }: RequestedUser, requestor: UserInfo): boolean {
  const node = nodeOfUserName(username);
  const nodes = requestor.extra?.[NODE_NAME] ?? [];
  return (
    node !== undefined && accountOfUser(requestor.username) !== undefined && nodes.length === 1 && nodes[0] === node
  );
}

/** Authorizers see which extra fields the account's token has, but not their values, as in upstream. */
function withoutExtra(user: UserInfo): UserInfo {
  const keys = Object.keys(user.extra ?? {}).sort();
  return { ...user, extra: { 'authentication.kubernetes.io/associated-node-keys': keys } };
}
