import { tooManyRequests } from '@podwright/api-machinery';
import type { UserInfo } from '@podwright/kube-kinds';
import { MASTERS } from '../authorization/authorizer.ts';

/** Maximum number of concurrent requests per user. */
export type InFlightLimits = {
  requests: number;
  /** Limit for watches, logs and other requests without a timeout. */
  longRunning: number;
};

/** For comparison, upstream allows 600 in-flight requests for all users together. */
const DEFAULT_LIMITS: InFlightLimits = { requests: 200, longRunning: 2000 };

/** Counts each user's in-flight requests. */
export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #counts = new Map<string, number>();

  constructor(limits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  /**
   * Counts a request as in flight until the returned value is disposed. Throws 429 if the user has too many requests in flight.
   * Administrators are not limited, so that they can intervene when others overload the server.
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
