import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/** Returns 256 random bits as text for URLs and cookies. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Returns what to store and look up instead of a secret: the time of a look-up then reveals nothing about it. */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64');
}
