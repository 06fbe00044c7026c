import { timingSafeEqual } from 'node:crypto';
import type { ObjectStore } from '@podwright/api-machinery';
import { isRecord } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import type { TokenType, TokenUser } from './authenticator.ts';

export type BootstrapTokensParts = { store: ObjectStore; audiences: readonly string[]; now: () => number };

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const EVERY_GROUP = 'system:bootstrappers';
/** RFC 3339, as parsed by Go. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Bootstrap tokens, with which nodes join the cluster: Secrets of type `bootstrap.kubernetes.io/token` in kube-system. */
export class BootstrapTokens implements TokenType {
  readonly #parts: BootstrapTokensParts;

  constructor(parts: BootstrapTokensParts) {
    this.#parts = parts;
  }

  authenticate(token: string, requested: readonly string[]): TokenUser | undefined {
    const [, id, secret] = TOKEN.exec(token) ?? [];
    const audiences = this.#parts.audiences.filter((audience) => requested.includes(audience));
    if (id === undefined || secret === undefined || audiences.length === 0) return undefined;
    const key = { resource: 'secrets', namespace: 'kube-system', name: `bootstrap-token-${id}` };
    const stored = this.#parts.store.get(key)?.decode();
    const groups = stored && this.#groupsOf(stored, id, secret);
    return groups && { user: { username: `system:bootstrap:${id}`, groups }, audiences };
  }

  /** Returns the token's groups, or `undefined` if the Secret does not match the token or the token may not be used for authentication. */
  #groupsOf(stored: ApiObject, id: string, secret: string): string[] | undefined {
    if (stored.metadata.deletionTimestamp !== undefined) return undefined;
    if (stored.type !== 'bootstrap.kubernetes.io/token') return undefined;
    const value = (name: string) => dataOf(stored, name);
    if (!isSame(value('token-secret'), secret) || value('token-id') !== id) return undefined;
    if (this.#isExpired(value('expiration')) || value('usage-bootstrap-authentication') !== 'true') return undefined;
    return groupsIn(value('auth-extra-groups'));
  }

  #isExpired(expiration: string): boolean {
    if (expiration === '') return false;
    const atMs = TIME.test(expiration) ? Date.parse(expiration) : Number.NaN;
    return !(atMs > this.#parts.now());
  }
}

function groupsIn(list: string): string[] | undefined {
  const extra = list === '' ? [] : list.split(',');
  return extra.every((group) => GROUP.test(group)) ? [...new Set([EVERY_GROUP, ...extra])].sort() : undefined;
}

function dataOf({ data }: ApiObject, name: string): string {
  const value = isRecord(data) && Object.hasOwn(data, name) ? data[name] : undefined;
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString() : '';
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
