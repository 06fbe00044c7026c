import { randomBytes } from 'node:crypto';
import { PodwrightError } from '@podwright/base';
import { TOKEN_TTL_MS } from '../limits.ts';

const MAX_TOKENS = 1000;

/** Requests that are waiting for their clients, each under a token that is valid once and expires. */
export class TokenCache<T> {
  readonly #entries = new Map<string, { value: T; expiresAtMs: number }>();
  readonly #now: () => number;

  /** `now` returns the time of a monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Stores a request and returns its token. Throws `resource_exhausted` while a thousand requests are waiting. */
  insert(value: T): string {
    for (const [token, entry] of this.#entries) {
      if (entry.expiresAtMs > this.#now()) break; // the entries are in insertion order, so all later ones are newer
      this.#entries.delete(token);
    }
    if (this.#entries.size >= MAX_TOKENS) {
      throw new PodwrightError(
        'resource_exhausted',
        `${MAX_TOKENS} streaming requests are already waiting for their clients`,
      );
    }
    const token = randomBytes(16).toString('base64url');
    this.#entries.set(token, { value, expiresAtMs: this.#now() + TOKEN_TTL_MS });
    return token;
  }

  /** Removes and returns the request with this token; undefined if the token is unknown, used or expired. */
  take(token: string): T | undefined {
    const entry = this.#entries.get(token);
    this.#entries.delete(token);
    return entry !== undefined && entry.expiresAtMs > this.#now() ? entry.value : undefined;
  }

  clear(): void {
    this.#entries.clear();
  }
}
