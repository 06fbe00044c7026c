/** Access control for the API server: authentication, impersonation and authorization. */

import { join } from 'node:path';
import type { ObjectStore } from '@podwright/api-machinery';
import { MASTERS } from '@podwright/kube-kinds';
import { AccountTokens } from './authentication/account-tokens.ts';
import { BootstrapTokens } from './authentication/bootstrap-tokens.ts';
import { impersonatedUser } from './authentication/impersonation.ts';
import { requestedUser } from './authentication/impersonation-headers.ts';
import { LegacyTokens } from './authentication/legacy-tokens.ts';
import { RequestAuthenticator } from './authentication/request-authenticator.ts';
import { SigningKeys } from './authentication/signing-keys.ts';
import { bootstrapPolicy } from './authorization/bootstrap/bootstrap-policy.ts';
import { EscalationCheck } from './authorization/escalation-check.ts';
import { NodeAuthorizer } from './authorization/node/node-authorizer.ts';
import { privilegedGroups } from './authorization/privileged-groups.ts';
import { RbacAuthorizer } from './authorization/rbac-authorizer.ts';
import { StoreRbacSource } from './authorization/store-rbac-source.ts';
import { unionAuthorizer, unionRuleResolver } from './authorization/union.ts';
import type { ServerParts } from './server/server-parts.ts';

/** Issuer and audience of service account tokens. */
export const ISSUER = 'https://kubernetes.default.svc.cluster.local';
export const AUDIENCES: readonly string[] = [ISSUER];

export type AccessParts = { directory: string; store: ObjectStore; now: () => number };

export type Access = Awaited<ReturnType<typeof openAccess>>;

/** Opens the service account signing keys and assembles the authenticator and authorizer chains. */
export async function openAccess({ directory, store, now }: AccessParts) {
  const keys = await SigningKeys.open(join(directory, 'account-keys'));
  const tokens = new AccountTokens({ store, keys, issuer: ISSUER, audiences: AUDIENCES, now });
  const bootstrapTokens = new BootstrapTokens({ store, audiences: AUDIENCES, now });
  const legacyTokens = new LegacyTokens({ store, keys, audiences: AUDIENCES });
  const types = [tokens, legacyTokens, bootstrapTokens];
  const authenticator = new RequestAuthenticator({ tokens: types, audiences: AUDIENCES, now });
  const source = new StoreRbacSource(store);
  const rbac = new RbacAuthorizer(source);
  const nodes = new NodeAuthorizer({ store, rules: nodeRules() });
  const authorizer = unionAuthorizer([privilegedGroups([MASTERS]), nodes, rbac]);
  const impersonate: ServerParts['impersonate'] = (rawHeaders, attributes) => {
    const requested = requestedUser(rawHeaders);
    return requested && impersonatedUser(authorizer, requested, attributes);
  };
  return {
    keys,
    tokens,
    legacyTokens,
    authenticator,
    authorizer,
    rules: unionRuleResolver([nodes, rbac]),
    escalation: new EscalationCheck({ authorizer, rules: rbac, source }),
    impersonate,
  };
}

/** Returns the rules of the ClusterRole `system:node`, for resources where a kubelet may access all objects. */
function nodeRules() {
  const role = bootstrapPolicy().clusterRoles.find(({ metadata }) => metadata.name === 'system:node');
  return role?.rules ?? [];
}
