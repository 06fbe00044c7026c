/** User and group names assigned by the server itself (apiserver, authentication/user). */
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

/** Returns a service account's user name. */
export const accountUser = (namespace: string, name: string): string => `${ACCOUNT_PREFIX}${namespace}:${name}`;

/** Returns the groups of a namespace's service accounts. */
export const accountGroups = (namespace: string): string[] => [ALL_ACCOUNTS, `${ALL_ACCOUNTS}:${namespace}`];

/** Returns the service account for a user name, or `undefined` if the user is not a service account. */
export function accountOfUser(username: string): { namespace: string; name: string } | undefined {
  if (!username.startsWith(ACCOUNT_PREFIX)) return undefined;
  const [namespace = '', name = '', ...more] = username.slice(ACCOUNT_PREFIX.length).split(':');
  const isValid = more.length === 0 && isNamespace(namespace) && isSubdomain(name);
  return isValid ? { namespace, name } : undefined;
}

/**
 * Returns the caller to which request and connection limits apply. All service accounts of a namespace count as one caller, because a user
 * who may create one of them may create many. Every other user is a separate caller.
 */
export function callerOf(username: string): string {
  const account = accountOfUser(username);
  return account === undefined ? `user ${username}` : `namespace ${account.namespace}`;
}

/** Returns a user's node name, or `undefined` if the user is not a node. '' if the user name consists of only the node prefix. */
export function nodeOfUser({ username, groups }: UserInfo): string | undefined {
  const isNode = username.startsWith(NODE_PREFIX) && groups.includes(NODES);
  return isNode ? username.slice(NODE_PREFIX.length) : undefined;
}

/** Returns the node name in a user name, or `undefined` if it is not a node's. Does not check the user's groups. */
export function nodeOfUserName(username: string): string | undefined {
  if (!username.startsWith(NODE_PREFIX)) return undefined;
  const name = username.slice(NODE_PREFIX.length);
  return isSubdomain(name) ? name : undefined;
}

const isNamespace = (text: string): boolean => text.length <= MAX_NAMESPACE && NAMESPACE.test(text);
const isSubdomain = (text: string): boolean => text.length <= MAX_SUBDOMAIN && SUBDOMAIN.test(text);

/** Group in this server's kubelet client certificate. */
export const KUBELET_CLIENTS = 'podwright:kubelet-clients';
