import { LINK_LIFE_MS, MAX_LINKS } from '../limits.ts';
import { digestOf, newSecret } from './secret.ts';

/** One-time tokens of the links that the command prints. Each token begins one session. */
export class Links {
  /** Expiry of each unused token in Unix milliseconds, by the token's digest; the oldest token first. */
  readonly #expiries = new Map<string, number>();

  /** Returns a new token. `now` is in Unix milliseconds. */
  issue(now: number): string {
    const token = newSecret();
    this.#expiries.set(digestOf(token), now + LINK_LIFE_MS);
    const [oldest] = this.#expiries.keys();
    if (this.#expiries.size > MAX_LINKS && oldest !== undefined) this.#expiries.delete(oldest);
    return token;
  }

  /** Invalidates the token. Returns whether it was valid. */
  redeem(token: string, now: number): boolean {
    const digest = digestOf(token);
    const expiry = this.#expiries.get(digest);
    this.#expiries.delete(digest);
    return expiry !== undefined && now < expiry;
  }
}
