import { Limiter, sleep } from '@podwright/base';

export type PullQueueOptions = {
  /** Pulls at once; 0 for any number. */
  maxParallel: number;
  /** Pulls a second on average and at once; 0 for any number. */
  qps: number;
  burst: number;
};

/** Holds pulls back so that neither the registry nor the disk gets too many. */
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

  /** A caller whose signal aborts leaves the queue at once with the signal's reason. */
  run<T>(pull: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#limiter.run(async () => {
      const waitMs = this.#takeToken();
      if (waitMs > 0) await sleep(waitMs, signal);
      return await pull();
    }, signal);
  }

  /** Takes one token of the bucket and returns how long it is until that token is there. */
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
