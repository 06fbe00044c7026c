/** User impersonation, with upstream's constrained modes (KEP-5284) and the legacy mode, which covers all verbs. */
import type { UserInfo } from '@podwright/kube-kinds';
import type { AuthorizationAttributes, Authorizer } from '../authorization/authorizer.ts';
import { accountOfUser, nodeOfUserName } from '../authorization/known-users.ts';
import { ImpersonationCheck } from './impersonation-check.ts';
import type { RequestedUser } from './impersonation-headers.ts';

/** A constrained impersonation mode. Each has its own verbs. */
type Mode = {
  name: string;
  /** Whether this mode can be used by the requestor for the requested user. */
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
 * Returns the user impersonated by the request. If no mode allows it, throws the Forbidden error of the first applicable mode.
 * `attributes`: of the request, with the requestor as user.
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

/** Whether the requested user is the node that runs the requesting service account's pod. */
function isOwnNode({ username }: RequestedUser, requestor: UserInfo): boolean {
  const node = nodeOfUserName(username);
  const nodes = requestor.extra?.[NODE_NAME] ?? [];
  return (
    node !== undefined && accountOfUser(requestor.username) !== undefined && nodes.length === 1 && nodes[0] === node
  );
}

/**
 * Returns the user with its extra fields replaced by a list of their keys: as in upstream, authorizers see the keys of a service account
 * token's extra fields, but not the values.
 */
function withoutExtra(user: UserInfo): UserInfo {
  const keys = Object.keys(user.extra ?? {}).sort();
  return { ...user, extra: { 'authentication.kubernetes.io/associated-node-keys': keys } };
}
