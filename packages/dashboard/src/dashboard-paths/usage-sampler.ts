import { background, type Logger } from '@podwright/base';
import { MAX_SAMPLES, SAMPLE_PERIOD_MS, USAGE_INTEREST_MS } from '../limits.ts';
import type { UsageSample } from './usage-sample.ts';

export type UsageSamplerOptions = {
  read: (signal: AbortSignal) => Promise<UsageSample>;
  logger: Logger;
  now?: () => number;
};

/** Samples a node's usage while pages request it, and retains the samples of the last hour. */
export class UsageSampler {
  readonly #options: Required<UsageSamplerOptions>;
  readonly #stopping = new AbortController();
  #samples: UsageSample[] = [];
  #wantedUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #first: Promise<void> | undefined;

  constructor({ now = Date.now, ...options }: UsageSamplerOptions) {
    this.#options = { now, ...options };
  }

  /** Returns the samples later than `after` (Unix milliseconds). Rejects if the first sample cannot be taken. */
  async samples(after: number): Promise<UsageSample[]> {
    this.#wantedUntil = this.#options.now() + USAGE_INTEREST_MS;
    if (this.#timer === undefined) await this.#start();
    return this.#samples.filter(({ time }) => time > after);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#stopping.abort();
  }

  /**
   * Takes the first sample immediately; concurrent callers share it. Only starts periodic sampling if this succeeds, because the user might
   * not be allowed to read the statistics.
   */
  async #start(): Promise<void> {
    this.#first ??= this.#take().finally(() => {
      this.#first = undefined;
    });
    await this.#first;
    if (this.#timer !== undefined || this.#stopping.signal.aborted) return;
    this.#timer = setInterval(() => this.#tick(), SAMPLE_PERIOD_MS).unref();
  }

  #tick(): void {
    if (this.#options.now() <= this.#wantedUntil)
      return background(this.#options.logger, "cannot read the node's usage", this.#take());
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #take(): Promise<void> {
    const sample = await this.#options.read(this.#stopping.signal);
    const oldest = sample.time - MAX_SAMPLES * SAMPLE_PERIOD_MS;
    this.#samples = [...this.#samples.filter(({ time }) => time > oldest), sample].slice(-MAX_SAMPLES);
  }
}
