import { isRecord } from '@podwright/base';
import { RefusedCredential } from './authenticator.ts';

/** Identifies an object that a token is bound to. `uid` is unset only for a node that does not exist. */
export type BoundObject = { name: string; uid?: string };

/** The objects a token is bound to. The token is only valid while they exist. */
export type Binding = {
  namespace: string;
  serviceaccount: BoundObject;
  pod?: BoundObject;
  secret?: BoundObject;
  /**
   * The node of the pod that the token is bound to, or the node itself if the token is bound to a node. In a pod's token, it is only
   * informational: the token's validity does not depend on it.
   */
  node?: BoundObject;
  /** Unix time in seconds after which the token counts as stale, though still valid until it expires. */
  warnafter?: number;
};

/** The claims of a service account token. Times are in Unix seconds. */
export type TokenClaims = {
  iss: string;
  sub: string;
  aud: string[];
  exp: number;
  nbf?: number;
  iat?: number;
  jti?: string;
  'kubernetes.io': Binding;
};

/** Tolerance for clock skew. As in upstream, it also extends a token's expiration. */
export const LEEWAY_S = 60;

/** Decodes verified claims. Throws `RefusedCredential` if they are not the claims of a service account token. */
export function decodeClaims(claims: Readonly<Record<string, unknown>>): TokenClaims {
  const binding = claims['kubernetes.io'];
  if (!isRecord(binding)) throw malformed();
  return {
    iss: textOf(claims.iss),
    sub: textOf(claims.sub),
    aud: (Array.isArray(claims.aud) ? claims.aud : [claims.aud]).map(textOf),
    exp: numberOf(claims.exp),
    ...optional('nbf', claims.nbf, numberOf),
    ...optional('iat', claims.iat, numberOf),
    ...optional('jti', claims.jti, textOf),
    'kubernetes.io': {
      namespace: textOf(binding.namespace),
      serviceaccount: boundObject(binding.serviceaccount),
      ...optional('pod', binding.pod, boundObject),
      ...optional('secret', binding.secret, boundObject),
      ...optional('node', binding.node, boundObject),
      ...optional('warnafter', binding.warnafter, numberOf),
    },
  };
}

/** Throws `RefusedCredential` if the token is not valid at the given time. */
export function checkTimes({ exp, nbf, iat }: TokenClaims, nowMs: number): void {
  const now = nowMs / 1000;
  if (nbf !== undefined && now + LEEWAY_S < nbf) throw new RefusedCredential('service account token is not valid yet');
  if (now - LEEWAY_S > exp) throw new RefusedCredential('service account token has expired');
  if (iat !== undefined && now + LEEWAY_S < iat)
    throw new RefusedCredential('service account token is issued in the future');
}

function optional<K extends string, V>(name: K, value: unknown, decode: (value: unknown) => V): { [name in K]?: V } {
  return value === undefined || value === null ? {} : ({ [name]: decode(value) } as { [name in K]: V });
}

function boundObject(value: unknown): BoundObject {
  if (!isRecord(value)) throw malformed();
  return { name: textOf(value.name), ...optional('uid', value.uid, textOf) };
}

function textOf(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw malformed();
  return value;
}

function numberOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw malformed();
  return value;
}

const malformed = () => new RefusedCredential('service account token claims could not be validated');
