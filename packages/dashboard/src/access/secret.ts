import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/** Returns 256 random bits, encoded for use in URLs and cookies. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Returns the SHA-256 digest of a secret for storage and lookup, so that lookup timing does not reveal the secret. */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64');
}
