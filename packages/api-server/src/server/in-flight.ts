import type { UserInfo } from '@podwright/kube-kinds';
import { MASTERS } from '../authorization/authorizer.ts';
import { tooManyRequests } from '../status/api-error.ts';

/** The number of requests that a user may have at once. */
export type InFlightLimits = {
  requests: number;
  /** Watches, logs, and other requests without a time limit. */
  longRunning: number;
};

/** Upstream allows 600 requests of all users together. */
const DEFAULT_LIMITS: InFlightLimits = { requests: 200, longRunning: 2000 };

/** Counts the requests of each user that have not been answered yet. */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #counts = new Map<string, number>();

  constructor(limits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  /**
   * Counts a request until the result is disposed. Throws 429 if the user has too many. Administrators are not limited, so that they can act
   * when others overload the server.
   */
  enter({ username, groups }: UserInfo, { isLongRunning }: { isLongRunning: boolean }): Disposable {
    const key = `${isLongRunning ? 'long' : 'short'}/${username}`;
    const count = this.#counts.get(key) ?? 0;
    const limit = isLongRunning ? this.#limits.longRunning : this.#limits.requests;
    if (count >= limit && !groups.includes(MASTERS))
      throw tooManyRequests('Too many requests, please try again later.', 1);
    this.#counts.set(key, count + 1);
    return { [Symbol.dispose]: () => this.#leave(key) };
  }

  #leave(key: string): void {
    const count = this.#counts.get(key)! - 1;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}
