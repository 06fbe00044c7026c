import { LINK_LIFE_MS, MAX_LINKS } from '../limits.ts';
import { digestOf, newSecret } from './secret.ts';

/** Tokens in the links that the command prints. Each begins one session. */
export class Links {
  /** When each token becomes invalid, by its digest; the oldest one first. */
  readonly #expiries = new Map<string, number>();

  /** Returns a new token. `now` is in milliseconds. */
  issue(now: number): string {
    const token = newSecret();
    this.#expiries.set(digestOf(token), now + LINK_LIFE_MS);
    const [oldest] = this.#expiries.keys();
    if (this.#expiries.size > MAX_LINKS && oldest !== undefined) this.#expiries.delete(oldest);
    return token;
  }

  /** Whether the token is valid. It is not valid again. */
  redeem(token: string, now: number): boolean {
    const digest = digestOf(token);
    const expiry = this.#expiries.get(digest);
    this.#expiries.delete(digest);
    return expiry !== undefined && now < expiry;
  }
}
