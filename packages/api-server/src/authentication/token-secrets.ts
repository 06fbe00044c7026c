/** Secrets of type `bootstrap.kubernetes.io/token` (upstream's cluster-bootstrap/token/api). */
import { parseTime } from '@podwright/api-machinery';
import { isRecord } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';

export type TokenSecret = {
  id: string;
  secret: string;
  /** When the token expires (RFC 3339); '' if it does not expire. */
  expiration: string;
  canAuthenticate: boolean;
  /** Whether the ConfigMap `cluster-info` is signed with the token. */
  canSign: boolean;
  /** Comma-separated groups that users of the token belong to, in addition to `system:bootstrappers`. */
  extraGroups: string;
};

/** Namespace of the token Secrets. */
export const TOKEN_NAMESPACE = 'kube-system';
/** Prefix of the name of a token's Secret. The token ID follows it. */
export const TOKEN_PREFIX = 'bootstrap-token-';
const TYPE = 'bootstrap.kubernetes.io/token';

/** Returns the token in a Secret, or `undefined` if the Secret is of a different type. */
export function readTokenSecret(object: ApiObject): TokenSecret | undefined {
  if (object.type !== TYPE) return undefined;
  const value = (name: string) => dataOf(object, name);
  return {
    id: value('token-id'),
    secret: value('token-secret'),
    expiration: value('expiration'),
    canAuthenticate: value('usage-bootstrap-authentication') === 'true',
    canSign: value('usage-bootstrap-signing') === 'true',
    extraGroups: value('auth-extra-groups'),
  };
}

/** Whether a token has expired. An expiration that cannot be parsed counts as expired. */
export function isExpired({ expiration }: TokenSecret, nowMs: number): boolean {
  if (expiration === '') return false;
  return !(parseTime(expiration) > nowMs);
}

function dataOf({ data }: ApiObject, name: string): string {
  const value = isRecord(data) && Object.hasOwn(data, name) ? data[name] : undefined;
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString() : '';
}
