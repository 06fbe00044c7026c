import { timingSafeEqual } from 'node:crypto';
import type { ObjectStore } from '@podwright/api-machinery';
import { type ApiObject, textAt } from '@podwright/kube-kinds';
import { accountGroups, accountUser } from '../authorization/known-users.ts';
import { RefusedCredential, type TokenType, type TokenUser } from './authenticator.ts';
import { checkSignature, parseToken, signToken } from './json-web-token.ts';
import type { SigningKey } from './signing-key.ts';

export type LegacyTokensParts = {
  store: ObjectStore;
  /** The signing keys. `current` signs new tokens, and is the last one in `all`. */
  keys: { readonly current: SigningKey; readonly all: readonly SigningKey[] };
  /** The API server's own audiences. All of these tokens are valid for them and no others. */
  audiences: readonly string[];
};

const ISSUER = 'kubernetes/serviceaccount';
const CLAIM = 'kubernetes.io/serviceaccount/';
/** Label set by administrators to invalidate the token in a Secret. */
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';

/**
 * Issues and verifies the tokens in Secrets of type `kubernetes.io/service-account-token`. They never expire, but are only valid while
 * their Secret contains them and their service account exists.
 */
export class LegacyTokens implements TokenType {
  readonly #parts: LegacyTokensParts;

  constructor(parts: LegacyTokensParts) {
    this.#parts = parts;
  }

  /** Returns the token to store in a service account's Secret. */
  issue({ metadata: { name = '', namespace = '', uid } }: ApiObject, secretName: string): string {
    const claims = {
      iss: ISSUER,
      [`${CLAIM}namespace`]: namespace,
      [`${CLAIM}secret.name`]: secretName,
      [`${CLAIM}service-account.name`]: name,
      [`${CLAIM}service-account.uid`]: uid,
      sub: accountUser(namespace, name),
    };
    return signToken(claims, this.#parts.keys.current);
  }

  authenticate(token: string, requested: readonly string[]): TokenUser | undefined {
    const parsed = parseToken(token);
    if (parsed === undefined || parsed.claims.iss !== ISSUER) return undefined;
    const { keys, audiences: own } = this.#parts;
    checkSignature(parsed, keys.all);
    const audiences = own.filter((audience) => requested.includes(audience));
    if (audiences.length === 0) throw new RefusedCredential('the token is invalid for the target audiences');
    const claim = (name: string) => claimOf(parsed.claims, `${CLAIM}${name}`);
    const [namespace, secretName] = [claim('namespace'), claim('secret.name')];
    const account = { name: claim('service-account.name'), uid: claim('service-account.uid') };
    if (claimOf(parsed.claims, 'sub') !== accountUser(namespace, account.name))
      throw new RefusedCredential('sub claim is invalid');
    this.#checkSecret(token, namespace, secretName);
    this.#checkAccount(namespace, account);
    const user = { username: accountUser(namespace, account.name), uid: account.uid, groups: accountGroups(namespace) };
    return { user, audiences };
  }

  #checkSecret(token: string, namespace: string, name: string): void {
    const secret = this.#parts.store.get({ resource: 'secrets', namespace, name })?.decode();
    if (secret === undefined || secret.metadata.deletionTimestamp !== undefined)
      throw new RefusedCredential('token has been invalidated');
    const stored = Buffer.from(textAt(secret, 'data', 'token'), 'base64');
    const given = Buffer.from(token);
    if (stored.length !== given.length || !timingSafeEqual(stored, given))
      throw new RefusedCredential("token does not match server's copy");
    if (textAt(secret, 'metadata', 'labels', INVALID_SINCE) !== '')
      throw new RefusedCredential(`the token in secret ${namespace}/${name} has been marked invalid`);
  }

  #checkAccount(namespace: string, { name, uid }: { name: string; uid: string }): void {
    const account = this.#parts.store.get({ resource: 'serviceaccounts', namespace, name })?.decode();
    if (account === undefined || account.metadata.deletionTimestamp !== undefined)
      throw new RefusedCredential(`service account ${namespace}/${name} has been deleted`);
    const { uid: stored = '' } = account.metadata;
    if (stored !== uid) throw new RefusedCredential(`service account UID (${stored}) does not match claim (${uid})`);
  }
}

function claimOf(claims: Readonly<Record<string, unknown>>, name: string): string {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  if (typeof value !== 'string' || value === '') throw new RefusedCredential(`${name} claim is missing`);
  return value;
}
