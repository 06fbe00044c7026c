/** Tokens of service accounts: JSON web tokens, signed with the server's key (RFC 7519, KEP 1205). */
import { generateKeyPairSync, type KeyObject, randomUUID, sign, verify } from 'node:crypto';
import { isObject, type JsonObject } from './json.ts';

export type BoundObject = { name: string; uid: string };

export type TokenFields = {
  namespace: string;
  serviceAccount: BoundObject;
  pod?: BoundObject;
  node?: { name: string; uid?: string };
  secret?: BoundObject;
  audiences: string[];
  expirationSeconds: number;
};

/** The claims of a token. */
export type TokenClaims = {
  aud: string[];
  exp: number;
  iat: number;
  jti: string;
  sub: string;
  'kubernetes.io': {
    namespace: string;
    serviceaccount: BoundObject;
    pod?: BoundObject;
    node?: { name: string; uid?: string };
    secret?: BoundObject;
  };
};

const ISSUER = 'https://kubernetes.default.svc.cluster.local';
/** The audience of the API itself. */
export const API_AUDIENCE = ISSUER;
/** The lifetime that kubelets request for a pod's token. Its tokens are valid for a year, because old clients never reread them. */
const EXTENDED_REQUEST_S = 3607;
const YEAR_S = 365 * 24 * 3600;

export class TokenIssuer {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#privateKey = privateKey;
    this.#publicKey = publicKey;
  }

  /** The token, and the time at which its user should renew it. */
  issue({ expirationSeconds, audiences, ...bound }: TokenFields): { token: string; expirationTimestamp: Date } {
    const present = Math.floor(Date.now() / 1000);
    const isExtended = expirationSeconds === EXTENDED_REQUEST_S && audiences.includes(API_AUDIENCE);
    const claims = {
      aud: audiences,
      exp: present + (isExtended ? YEAR_S : expirationSeconds),
      iat: present,
      iss: ISSUER,
      jti: randomUUID(),
      'kubernetes.io': {
        namespace: bound.namespace,
        ...(bound.node === undefined ? {} : { node: bound.node }),
        ...(bound.pod === undefined ? {} : { pod: bound.pod }),
        ...(bound.secret === undefined ? {} : { secret: bound.secret }),
        serviceaccount: bound.serviceAccount,
        ...(isExtended ? { warnafter: present + expirationSeconds } : {}),
      },
      nbf: present,
      sub: `system:serviceaccount:${bound.namespace}:${bound.serviceAccount.name}`,
    };
    return {
      token: this.#signed(claims),
      expirationTimestamp: new Date((present + expirationSeconds) * 1000),
    };
  }

  /** The claims of an unexpired token of this issuer, else undefined. */
  read(token: string): TokenClaims | undefined {
    const [header, payload, signature, ...more] = token.split('.');
    if (header === undefined || payload === undefined || signature === undefined || more.length > 0) return undefined;
    const key = { key: this.#publicKey, dsaEncoding: 'ieee-p1363' } as const;
    if (!verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')))
      return undefined;
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    if (!isObject(claims) || Number(claims.exp) <= Date.now() / 1000) return undefined;
    return claims as TokenClaims;
  }

  #signed(claims: JsonObject): string {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${part({ alg: 'ES256', typ: 'JWT', kid: 'service-accounts' })}.${part(claims)}`;
    const key = { key: this.#privateKey, dsaEncoding: 'ieee-p1363' } as const;
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
  }
}
