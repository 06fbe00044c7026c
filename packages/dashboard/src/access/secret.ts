import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/** Returns 256 random bits, in characters that URLs and cookies can contain. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Returns the SHA-256 digest by which a secret is stored and looked up, so that the duration of a look-up reveals nothing about it. */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64');
}
