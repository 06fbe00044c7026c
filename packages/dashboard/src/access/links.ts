import { LINK_LIFE_MS, MAX_LINKS } from '../limits.ts';
import { digestOf, newSecret } from './secret.ts';

/** One-time tokens for links printed by the command. Each token starts one session. */
export class Links {
  /** The expiry time of unused tokens in Unix milliseconds, by digest of the token, oldest first. */
  readonly #expiries = new Map<string, number>();

  /** Returns a new token. `now`: in Unix milliseconds. */
  issue(now: number): string {
    const token = newSecret();
    this.#expiries.set(digestOf(token), now + LINK_LIFE_MS);
    const [oldest] = this.#expiries.keys();
    if (this.#expiries.size > MAX_LINKS && oldest !== undefined) this.#expiries.delete(oldest);
    return token;
  }

  /** Invalidates a link's token. Returns whether it was valid. */
  redeem(token: string, now: number): boolean {
    const digest = digestOf(token);
    const expiry = this.#expiries.get(digest);
    this.#expiries.delete(digest);
    return expiry !== undefined && now < expiry;
  }
}
