/** JSON Web Tokens in compact serialization, signed with a public-key algorithm (RFC 7515, 7518, 7519). */
import { sign, verify } from 'node:crypto';
import { isRecord } from '@podwright/base';
import { RefusedCredential } from './authenticator.ts';
import type { SigningKey } from './signing-key.ts';

/** A token whose signature has not been verified. */
export type UnverifiedToken = {
  header: Readonly<Record<string, unknown>>;
  /** The token's claims, which must not be trusted before the signature is verified. */
  claims: Readonly<Record<string, unknown>>;
  /** The part of the token that the signature covers: header and claims, still encoded. */
  signed: string;
  signature: Buffer;
};

/** Maximum size of a token. Service account tokens are about 1 KB, and request headers are limited to 16 KB anyway. */
const MAX_TOKEN_BYTES = 16 << 10;
const PART = /^[A-Za-z0-9_-]+$/;

/** Parses a token. Returns `undefined` if the text is not a token in compact serialization, or is too large. */
export function parseToken(text: string): UnverifiedToken | undefined {
  if (text.length > MAX_TOKEN_BYTES) return undefined;
  const parts = text.split('.', 4);
  if (parts.length !== 3 || !parts.every((part) => PART.test(part))) return undefined;
  const [head, payload, signature] = parts as [string, string, string];
  const [header, claims] = [decodedObject(head), decodedObject(payload)];
  if (header === undefined || claims === undefined) return undefined;
  return { header, claims, signed: `${head}.${payload}`, signature: Buffer.from(signature, 'base64url') };
}

function decodedObject(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether the token is signed with the key. The key determines the algorithm; tokens naming a different one are rejected, which rules out
 * both `none` and an HMAC keyed with the public key. Also rejects tokens with critical header extensions (`crit`).
 */
export function isSignedWith({ header, signed, signature }: UnverifiedToken, key: SigningKey): boolean {
  if (header.alg !== key.algorithm || header.crit !== undefined) return false;
  return verify(key.hash, Buffer.from(signed), { key: key.publicKey, dsaEncoding: 'ieee-p1363' }, signature);
}

/**
 * Verifies the signature with the key named by the token's `kid`, or with any key if it names none. Throws `RefusedCredential` if it is
 * invalid.
 */
export function checkSignature(token: UnverifiedToken, all: readonly SigningKey[]): void {
  const { kid } = token.header;
  const isNamed = kid !== undefined && kid !== '';
  const keys = isNamed ? all.filter(({ id }) => id === kid) : all;
  if (keys.length === 0) throw new RefusedCredential('invalid signature, no keys found');
  if (!keys.some((key) => isSignedWith(token, key))) throw new RefusedCredential('invalid signature');
}

/** Signs the claims and returns the token. */
export function signToken(claims: Readonly<Record<string, unknown>>, key: SigningKey): string {
  const signed = `${encodedObject({ alg: key.algorithm, kid: key.id })}.${encodedObject(claims)}`;
  const signature = sign(key.hash, Buffer.from(signed), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

const encodedObject = (value: Readonly<Record<string, unknown>>): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');
