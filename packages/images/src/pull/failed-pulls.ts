import { errorCode } from '@podwright/base';
import type { Lease } from '../store/leases.ts';

export type FailedPullsOptions = {
  /** How long the next attempt has time to come. */
  keepMs: number;
  /** Does not reject. */
  collectGarbage: () => Promise<void>;
};

/** Failures after which what was fetched by then is of use for the next attempt. */
const PASSING = ['unavailable', 'deadline_exceeded', 'cancelled', 'aborted'];

/**
 * What pulls that failed have brought. It is kept for a while where the next attempt can go on with it, and removed at once
 * where it cannot: a full disk, content that is not what it should be.
 */
export class FailedPulls {
  readonly #options: FailedPullsOptions;
  readonly #kept = new Map<Lease, { name: string; timer: NodeJS.Timeout }>();

  constructor(options: FailedPullsOptions) {
    this.#options = options;
  }

  /** Takes over the lease of a pull of `name` that failed, or that its callers have left. Resolves when what goes at once is gone. */
  async takeOver(lease: Lease, { name, error, left }: { name: string; error: unknown; left: boolean }): Promise<void> {
    if (!left && !PASSING.includes(errorCode(error))) return this.#giveUp(lease);
    const timer = setTimeout(() => this.#giveUp(lease), this.#options.keepMs);
    timer.unref();
    this.#kept.set(lease, { name, timer });
  }

  /** The image has come; what earlier attempts have brought is its own now, or of no use. */
  succeeded(name: string): void {
    for (const [lease, kept] of this.#kept) if (kept.name === name) this.#release(lease);
  }

  /** Gives back all leases; what they held goes with the next garbage collection. */
  close(): void {
    for (const lease of this.#kept.keys()) this.#release(lease);
  }

  #release(lease: Lease): void {
    clearTimeout(this.#kept.get(lease)?.timer);
    this.#kept.delete(lease);
    lease[Symbol.dispose]();
  }

  async #giveUp(lease: Lease): Promise<void> {
    this.#release(lease);
    await this.#options.collectGarbage();
  }
}
