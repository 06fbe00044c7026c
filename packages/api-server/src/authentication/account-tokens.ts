import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import type { ObjectStore } from '@podwright/api-machinery';
import { RecentlyUsed } from '@podwright/base';
import type { UserInfo } from '@podwright/kube-kinds';
import { accountGroups, accountUser } from '../authorization/known-users.ts';
import { CREDENTIAL_ID, RefusedCredential, type TokenType, type TokenUser } from './authenticator.ts';
import { checkBinding } from './bound-objects.ts';
import { checkSignature, parseToken, signToken } from './json-web-token.ts';
import type { SigningKey } from './signing-key.ts';
import { type Binding, checkTimes, decodeClaims, type TokenClaims } from './token-claims.ts';

export type AccountTokensParts = {
  store: ObjectStore;
  /** The signing keys. `current` signs new tokens, and is the last one in `all`. */
  keys: { readonly current: SigningKey; readonly all: readonly SigningKey[] };
  /** The issuer of new tokens. Tokens from other issuers are not recognized. */
  issuer: string;
  /** The API server's own audiences. */
  audiences: readonly string[];
  now: () => number;
};

export type TokenFields = { audiences: readonly string[]; expirationSeconds: number; binding: Binding };

/**
 * Maximum number of tokens whose verified claims are cached, as verifying a signature takes 0.1 ms. Validity times and bound objects are
 * still checked on every use.
 */
const MAX_CACHED = 4096;

/** Issues and verifies service account tokens (KEP-1205, KEP-4193). For non-expiring tokens, see `LegacyTokens`. */
export class AccountTokens implements TokenType {
  readonly #parts: AccountTokensParts;
  readonly #cacheKey = randomBytes(32);
  readonly #verified = new RecentlyUsed<TokenClaims>(MAX_CACHED);

  constructor(parts: AccountTokensParts) {
    this.#parts = parts;
  }

  issue({ audiences, expirationSeconds, binding }: TokenFields): string {
    const { keys, issuer, now } = this.#parts;
    const seconds = Math.floor(now() / 1000);
    const claims: TokenClaims = {
      aud: [...audiences],
      exp: seconds + expirationSeconds,
      iat: seconds,
      iss: issuer,
      jti: randomUUID(),
      'kubernetes.io': binding,
      nbf: seconds,
      sub: accountUser(binding.namespace, binding.serviceaccount.name),
    };
    return signToken(claims, keys.current);
  }

  authenticate(token: string, requested: readonly string[]): TokenUser | undefined {
    const claims = this.#claimsOf(token);
    if (claims === undefined) return undefined;
    const audiences = claims.aud.filter((audience) => requested.includes(audience));
    if (audiences.length === 0)
      throw new RefusedCredential(
        `token audiences ${quotedList(claims.aud)} is invalid for the target audiences ${quotedList(requested)}`,
      );
    const { store, now } = this.#parts;
    checkTimes(claims, now());
    checkBinding(store, claims['kubernetes.io'], now());
    return { user: userOf(claims), audiences };
  }

  #claimsOf(token: string): TokenClaims | undefined {
    const key = createHmac('sha256', this.#cacheKey).update(token).digest('base64');
    const cached = this.#verified.get(key);
    if (cached !== undefined) return cached;
    const parsed = parseToken(token);
    if (parsed === undefined || parsed.claims.iss !== this.#parts.issuer) return undefined;
    checkSignature(parsed, this.#parts.keys.all);
    const claims = decodeClaims(parsed.claims);
    this.#verified.set(key, claims);
    return claims;
  }
}

const quotedList = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;

function userOf({ jti, 'kubernetes.io': binding }: TokenClaims): UserInfo {
  const { namespace, serviceaccount, pod, node } = binding;
  const extra: Record<string, string[]> = {};
  if (jti !== undefined) extra[CREDENTIAL_ID] = [`JTI=${jti}`];
  if (pod?.uid !== undefined) {
    extra['authentication.kubernetes.io/pod-name'] = [pod.name];
    extra['authentication.kubernetes.io/pod-uid'] = [pod.uid];
  }
  if (node !== undefined) extra['authentication.kubernetes.io/node-name'] = [node.name];
  if (node?.uid !== undefined) extra['authentication.kubernetes.io/node-uid'] = [node.uid];
  return {
    username: accountUser(namespace, serviceaccount.name),
    ...(serviceaccount.uid === undefined ? {} : { uid: serviceaccount.uid }),
    groups: accountGroups(namespace),
    extra,
  };
}
