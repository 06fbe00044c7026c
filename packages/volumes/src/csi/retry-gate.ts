import { Backoff } from '@podwright/base';
import { VOLUME_BACKOFF } from '@podwright/placement';
import { VolumeFailure } from '../volumes/volume-failure.ts';

type Failure = { driver: string; error: unknown };

function untried(error: unknown): unknown {
  return error instanceof VolumeFailure ? error.untried() : error;
}

/** Runs work by key, with back-off after failures. During the back-off, `run` rejects with the last error instead of calling `work`. */
export class RetryGate {
  readonly #backoff: Backoff;
  readonly #failures = new Map<string, Failure>();

  constructor(now?: () => number) {
    this.#backoff = new Backoff(VOLUME_BACKOFF, now);
  }

  async run<T>(
    key: string,
    { driver, signal }: { driver: string; signal?: AbortSignal },
    work: () => Promise<T>,
  ): Promise<T> {
    const failure = this.#failures.get(key);
    if (failure !== undefined && this.#backoff.remainingMs(key) > 0) throw untried(failure.error);
    try {
      const result = await work();
      this.forget(key);
      return result;
    } catch (error) {
      if (!signal?.aborted) {
        this.#backoff.next(key);
        this.#failures.set(key, { driver, error });
      }
      throw error;
    }
  }

  forget(key: string): void {
    this.#failures.delete(key);
    this.#backoff.forget(key);
  }

  forgetWhere(isForgotten: (key: string) => boolean): void {
    for (const key of this.#failures.keys()) if (isForgotten(key)) this.forget(key);
  }

  /** Ends the back-off of all work involving a driver. */
  release(driver: string): void {
    for (const [key, failure] of this.#failures) if (failure.driver === driver) this.forget(key);
  }
}
