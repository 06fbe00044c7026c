import { timingSafeEqual } from 'node:crypto';
import type { ObjectStore } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { TokenType, TokenUser } from './authenticator.ts';
import { isExpired, readTokenSecret, TOKEN_NAMESPACE, TOKEN_PREFIX } from './token-secrets.ts';

export type BootstrapTokensParts = { store: ObjectStore; audiences: readonly string[]; now: () => number };

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const EVERY_GROUP = 'system:bootstrappers';

/** Authenticates bootstrap tokens, which nodes use to join the cluster: Secrets of type `bootstrap.kubernetes.io/token` in kube-system. */
export class BootstrapTokens implements TokenType {
  readonly #parts: BootstrapTokensParts;

  constructor(parts: BootstrapTokensParts) {
    this.#parts = parts;
  }

  authenticate(token: string, requested: readonly string[]): TokenUser | undefined {
    const [, id, secret] = TOKEN.exec(token) ?? [];
    const audiences = this.#parts.audiences.filter((audience) => requested.includes(audience));
    if (id === undefined || secret === undefined || audiences.length === 0) return undefined;
    const key = { resource: 'secrets', namespace: TOKEN_NAMESPACE, name: `${TOKEN_PREFIX}${id}` };
    const stored = this.#parts.store.get(key)?.decode();
    const groups = stored && this.#groupsOf(stored, id, secret);
    return groups && { user: { username: `system:bootstrap:${id}`, groups }, audiences };
  }

  /** Returns the token's groups, or `undefined` if the Secret does not match the token or the token may not be used for authentication. */
  #groupsOf(stored: ApiObject, id: string, secret: string): string[] | undefined {
    const token = readTokenSecret(stored);
    if (token === undefined || stored.metadata.deletionTimestamp !== undefined) return undefined;
    if (!isSame(token.secret, secret) || token.id !== id) return undefined;
    if (isExpired(token, this.#parts.now()) || !token.canAuthenticate) return undefined;
    return groupsIn(token.extraGroups);
  }
}

function groupsIn(list: string): string[] | undefined {
  const extra = list === '' ? [] : list.split(',');
  return extra.every((group) => GROUP.test(group)) ? [...new Set([EVERY_GROUP, ...extra])].sort() : undefined;
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
