import { MASTERS, type UserInfo } from '@podwright/kube-kinds';
import type { AuthorizationAttributes, Authorizer } from '../authorization/authorizer.ts';
import { forbiddenError } from '../authorization/forbidden-error.ts';
import {
  ANONYMOUS,
  AUTHENTICATED,
  accountGroups,
  accountOfUser,
  NODES,
  nodeOfUserName,
  UNAUTHENTICATED,
} from '../authorization/known-users.ts';
import type { RequestedUser } from './impersonation-headers.ts';

export type ImpersonationCheckParts = {
  authorizer: Authorizer;
  requestor: UserInfo;
  /** The verb that the requestor needs: `impersonate`, or `impersonate:MODE` for a constrained mode. */
  verb: string;
  /** Whether the verb belongs to a constrained mode, which has stricter checks. */
  isConstrained: boolean;
  /** Requires permission to impersonate all names instead of just the requested one. */
  anyName?: boolean;
};

type Target = { apiGroup: string; resource: string; subresource?: string; namespace?: string; name: string };

const AUTHENTICATION = 'authentication.k8s.io';
/** If this many groups or extra values are requested, a constrained mode first checks for permission to impersonate all of them. */
const MANY = 4;
/** Matches the key of an extra field: a domain and a path. */
const EXTRA_KEY = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** Checks that the requestor may impersonate every attribute of the requested user: name, UID, groups and extra fields. */
export class ImpersonationCheck {
  readonly #parts: ImpersonationCheckParts;

  constructor(parts: ImpersonationCheckParts) {
    this.#parts = parts;
  }

  /** Returns the impersonated user. Throws a Forbidden error if the requestor may not impersonate one of the attributes. */
  userOf(requested: RequestedUser): UserInfo {
    const groups = this.#checkName(requested);
    const { username, uid, extra } = requested;
    if (uid !== '') this.#check({ apiGroup: AUTHENTICATION, resource: 'uids', name: uid });
    this.#checkGroups(requested.groups);
    this.#checkExtra(extra);
    return {
      username,
      ...(uid === '' ? {} : { uid }),
      groups: withAuthenticated(username, groups),
      ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
    };
  }

  /** Throws a Forbidden error if the request is not allowed. */
  require(attributes: AuthorizationAttributes): void {
    const { decision, reason } = this.#parts.authorizer.authorize(attributes);
    if (decision !== 'allow') throw forbiddenError(attributes, reason);
  }

  /** Checks the user name. Returns the user's groups, which the name implies for nodes and service accounts. */
  #checkName({ username, groups }: RequestedUser): readonly string[] {
    const apiGroup = this.#parts.isConstrained ? AUTHENTICATION : '';
    const node = this.#parts.isConstrained ? nodeOfUserName(username) : undefined;
    const account = accountOfUser(username);
    if (node !== undefined) {
      this.#check({ apiGroup, resource: 'nodes', name: node });
      return [NODES];
    }
    if (account === undefined) {
      this.#check({ apiGroup, resource: 'users', name: username });
      return groups;
    }
    this.#check({ apiGroup, resource: 'serviceaccounts', ...account });
    return groups.length === 0 ? accountGroups(account.namespace) : groups;
  }

  #checkGroups(groups: readonly string[]): void {
    const target = (name: string): Target => ({
      apiGroup: this.#parts.isConstrained ? AUTHENTICATION : '',
      resource: 'groups',
      name,
    });
    if (this.#parts.isConstrained) {
      if (groups.includes('')) this.#refuse(target(''), 'impersonating the empty string group is not allowed');
      if (groups.includes(MASTERS))
        this.#refuse(target(MASTERS), 'impersonating the system:masters group is not allowed');
      if (groups.length >= MANY && this.#allows(target('*'))) return;
    }
    for (const group of groups) this.#check(target(group));
  }

  #checkExtra(extra: RequestedUser['extra']): void {
    const target = (subresource: string, name: string): Target => ({
      apiGroup: AUTHENTICATION,
      resource: 'userextras',
      subresource,
      name,
    });
    const count = [...extra.values()].reduce((sum, { length }) => sum + length, 0);
    if (this.#parts.isConstrained) {
      const problem = [...extra].map(([key, values]) => extraProblem(key, values)).find((one) => one !== undefined);
      if (problem !== undefined) this.#refuse(target('', ''), problem);
      if (count >= MANY && this.#allows(target('*', '*'))) return;
    }
    for (const [key, values] of extra) for (const value of values) this.#check(target(key, value));
  }

  #check(target: Target): void {
    this.require(this.#attributesOf(target));
  }

  #allows(target: Target): boolean {
    return this.#parts.authorizer.authorize(this.#attributesOf(target)).decision === 'allow';
  }

  #refuse(target: Target, reason: string): never {
    throw forbiddenError(this.#attributesOf(target), reason);
  }

  #attributesOf({ subresource = '', namespace = '', ...target }: Target): AuthorizationAttributes {
    const { requestor: user, verb, anyName } = this.#parts;
    const attributes = { user, verb, isResourceRequest: true, ...target, subresource, namespace, path: '' };
    return anyName === true ? { ...attributes, name: '*' } : attributes;
  }
}

function extraProblem(key: string, values: readonly string[]): string | undefined {
  if (key === '') return 'impersonating the empty string key in extra is not allowed';
  if (!EXTRA_KEY.test(key))
    return `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${JSON.stringify(key)}: must be a domain-prefixed path (such as "acme.io/foo")`;
  if (key !== key.toLowerCase())
    return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`;
  if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  return undefined;
}

function withAuthenticated(username: string, groups: readonly string[]): readonly string[] {
  const group = username === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED;
  const isComplete = groups.includes(group) || (username !== ANONYMOUS && groups.includes(UNAUTHENTICATED));
  return isComplete ? groups : [...groups, group];
}
