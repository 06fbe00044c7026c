import { Limiter, sleep } from '@podwright/base';

export type PullQueueOptions = {
  /** Maximum number of parallel pulls (`maxParallelImagePulls`); 0 for no limit. */
  maxParallel: number;
  /** Average number of pulls per second (`registryPullQPS`), 0 for no limit; `burst` is `registryBurst`. */
  qps: number;
  burst: number;
};

/** Limits the parallelism and rate of pulls, to protect the disk and the registry. */
export class PullQueue {
  readonly #limiter: Limiter;
  readonly #options: PullQueueOptions;
  readonly #now: () => number;
  #tokens: number;
  #filledAtMs: number;

  constructor(options: PullQueueOptions, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#limiter = new Limiter(options.maxParallel === 0 ? Number.POSITIVE_INFINITY : options.maxParallel);
    this.#now = now;
    this.#tokens = options.burst;
    this.#filledAtMs = now();
  }

  /** Runs `pull` once the limits on parallelism and rate permit it. Rejects with the signal's abort reason if it aborts first. */
  run<T>(pull: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#limiter.run(async () => {
      const waitMs = this.#takeToken();
      if (waitMs > 0) await sleep(waitMs, signal);
      return await pull();
    }, signal);
  }

  /** Takes a token from the rate limiter's bucket. Returns the number of milliseconds until it becomes available. */
  #takeToken(): number {
    const { qps, burst } = this.#options;
    if (qps === 0) return 0;
    const now = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAtMs) / 1000) * qps);
    this.#filledAtMs = now;
    this.#tokens--;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / qps) * 1000;
  }
}
