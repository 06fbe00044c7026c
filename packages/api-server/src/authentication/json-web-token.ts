/** JSON web tokens in compact form, signed with a public-key algorithm (RFC 7515, 7518, 7519). */
import { sign, verify } from 'node:crypto';
import { isRecord } from '@podwright/base';
import type { SigningKey } from './signing-key.ts';

/** A token whose signature has not been verified. */
export type UnverifiedToken = {
  header: Readonly<Record<string, unknown>>;
  /** Do not trust them before the signature is verified. */
  claims: Readonly<Record<string, unknown>>;
  /** The text that is signed. */
  signed: string;
  signature: Buffer;
};

/** Tokens of service accounts have about 1 KB. Headers of requests are limited to 16 KB anyway. */
const MAX_TOKEN_BYTES = 16 << 10;
const PART = /^[A-Za-z0-9_-]+$/;

/** Parses a token. Returns undefined if the text is not a token in compact form, or is too large. */
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
 * Whether a key has signed a token. The algorithm is that of the key: a token that names another one is refused, so that neither `none` nor
 * an HMAC with the public key as its secret is accepted. So are headers that change how a token is verified (`crit`).
 */
export function isSignedWith({ header, signed, signature }: UnverifiedToken, key: SigningKey): boolean {
  if (header.alg !== key.algorithm || header.crit !== undefined) return false;
  return verify(key.hash, Buffer.from(signed), { key: key.publicKey, dsaEncoding: 'ieee-p1363' }, signature);
}

/** Signs claims. */
export function signToken(claims: Readonly<Record<string, unknown>>, key: SigningKey): string {
  const signed = `${encodedObject({ alg: key.algorithm, kid: key.id })}.${encodedObject(claims)}`;
  const signature = sign(key.hash, Buffer.from(signed), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

const encodedObject = (value: Readonly<Record<string, unknown>>): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');
