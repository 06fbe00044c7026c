import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { PodwrightError } from '@podwright/base';

/** A key that signs service account tokens, or used to before a newer key was added. */
export type SigningKey = {
  /** Hash of the public key, used as the key ID (`kid`) in tokens. */
  id: string;
  algorithm: 'RS256' | 'ES256' | 'ES384' | 'ES512';
  /** The hash function that the signature algorithm uses, as named in `node:crypto`. */
  hash: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
};

const CURVES = new Map<string | undefined, Pick<SigningKey, 'algorithm' | 'hash'>>([
  ['prime256v1', { algorithm: 'ES256', hash: 'sha256' }],
  ['secp384r1', { algorithm: 'ES384', hash: 'sha384' }],
  ['secp521r1', { algorithm: 'ES512', hash: 'sha512' }],
]);

/** Minimum key size for RS256 (RFC 7518). */
const MIN_RSA_BITS = 2048;

/** Decodes a PEM private key. Throws `invalid_argument` if it cannot be used to sign tokens. */
export function readSigningKey(pem: string): SigningKey {
  const privateKey = decoded(pem);
  const publicKey = createPublicKey(privateKey);
  const der = publicKey.export({ type: 'spki', format: 'der' });
  const id = createHash('sha256').update(der).digest('base64url');
  return { id, ...algorithmOf(publicKey), privateKey, publicKey };
}

function decoded(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // The cause is dropped, because it could quote part of the key file.
    throw new PodwrightError('invalid_argument', 'it is not a private key in PEM format');
  }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): Pick<SigningKey, 'algorithm' | 'hash'> {
  const { namedCurve, modulusLength = 0 } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'rsa' && modulusLength >= MIN_RSA_BITS) return { algorithm: 'RS256', hash: 'sha256' };
  const ofCurve = asymmetricKeyType === 'ec' ? CURVES.get(namedCurve) : undefined;
  if (ofCurve !== undefined) return ofCurve;
  throw new PodwrightError(
    'invalid_argument',
    `it is not an RSA key of at least ${MIN_RSA_BITS} bits, nor an ECDSA key of the curve P-256, P-384 or P-521`,
  );
}
