import { PodwrightError } from '@podwright/base';

/** A token bucket for rate-limiting calls: `perSecond` on average, with bursts of up to `burst`. */
export class CallLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #now: () => number;
  #left: number;
  #atMs: number;

  constructor({ perSecond, burst }: { perSecond: number; burst: number }, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#now = now;
    this.#left = burst;
    this.#atMs = now();
  }

  /** Takes a token. Throws `resource_exhausted` if the bucket is empty, as upstream does. */
  take(): void {
    const now = this.#now();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#atMs) / 1000) * this.#perSecond);
    this.#atMs = now;
    if (this.#left < 1) throw new PodwrightError('resource_exhausted', 'rejected by rate limit');
    this.#left -= 1;
  }
}
