import { randomBytes } from 'node:crypto';
import { PodwrightError } from '@podwright/base';
import { TOKEN_TTL_MS } from '../limits.ts';

const MAX_TOKENS = 1000;

/** Requests that wait for their client, each under a token that can be used once and expires. */
export class TokenCache<T> {
  readonly #entries = new Map<string, { value: T; expiresAtMs: number }>();
  readonly #now: () => number;

  /** `now`: milliseconds of a clock that only goes forward. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Throws `resource_exhausted` while a thousand requests wait already. */
  insert(value: T): string {
    for (const [token, entry] of this.#entries) {
      if (entry.expiresAtMs > this.#now()) break; // in order of insertion, so the rest is younger
      this.#entries.delete(token);
    }
    if (this.#entries.size >= MAX_TOKENS) {
      throw new PodwrightError('resource_exhausted', `${MAX_TOKENS} streaming requests wait for their clients already`);
    }
    const token = randomBytes(16).toString('base64url');
    this.#entries.set(token, { value, expiresAtMs: this.#now() + TOKEN_TTL_MS });
    return token;
  }

  /** The request of this token, which is then used up; nothing for unknown, used and expired ones. */
  take(token: string): T | undefined {
    const entry = this.#entries.get(token);
    this.#entries.delete(token);
    return entry !== undefined && entry.expiresAtMs > this.#now() ? entry.value : undefined;
  }

  clear(): void {
    this.#entries.clear();
  }
}
