/** User and group names that the server itself assigns (apiserver, authentication/user). */
import type { UserInfo } from '@podwright/kube-kinds';

export const AUTHENTICATED = 'system:authenticated';
export const UNAUTHENTICATED = 'system:unauthenticated';
export const ANONYMOUS = 'system:anonymous';
export const NODES = 'system:nodes';

const ACCOUNT_PREFIX = 'system:serviceaccount:';
const ALL_ACCOUNTS = 'system:serviceaccounts';
const NODE_PREFIX = 'system:node:';
const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const NAMESPACE = new RegExp(`^${LABEL}$`);
const SUBDOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const MAX_NAMESPACE = 63;
const MAX_SUBDOMAIN = 253;

/** The user name of a service account. */
export const accountUser = (namespace: string, name: string): string => `${ACCOUNT_PREFIX}${namespace}:${name}`;

/** The groups of a namespace's service accounts. */
export const accountGroups = (namespace: string): string[] => [ALL_ACCOUNTS, `${ALL_ACCOUNTS}:${namespace}`];

/** Returns the service account that a user name denotes, or `undefined` if it is not the user name of a service account. */
export function accountOfUser(username: string): { namespace: string; name: string } | undefined {
  if (!username.startsWith(ACCOUNT_PREFIX)) return undefined;
  const [namespace = '', name = '', ...more] = username.slice(ACCOUNT_PREFIX.length).split(':');
  const isValid = more.length === 0 && isNamespace(namespace) && isSubdomain(name);
  return isValid ? { namespace, name } : undefined;
}

/**
 * Returns the caller by which requests and connections are limited. All service accounts of a namespace are one caller, because a user who
 * may create one of them may create many. Each other user is a caller.
 */
export function callerOf(username: string): string {
  const account = accountOfUser(username);
  return account === undefined ? `user ${username}` : `namespace ${account.namespace}`;
}

/** Returns the node name of a user, or `undefined` if the user is not a node. '' if the user name consists only of the node prefix. */
export function nodeOfUser({ username, groups }: UserInfo): string | undefined {
  const isNode = username.startsWith(NODE_PREFIX) && groups.includes(NODES);
  return isNode ? username.slice(NODE_PREFIX.length) : undefined;
}

/** Returns the node name in a user name, without checking the user's groups. `undefined` if it is not the user name of a node. */
export function nodeOfUserName(username: string): string | undefined {
  if (!username.startsWith(NODE_PREFIX)) return undefined;
  const name = username.slice(NODE_PREFIX.length);
  return isSubdomain(name) ? name : undefined;
}

const isNamespace = (text: string): boolean => text.length <= MAX_NAMESPACE && NAMESPACE.test(text);
const isSubdomain = (text: string): boolean => text.length <= MAX_SUBDOMAIN && SUBDOMAIN.test(text);

/** The group of this server as a client of kubelets. */
export const KUBELET_CLIENTS = 'podwright:kubelet-clients';
