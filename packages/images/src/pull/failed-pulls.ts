import { errorCode } from '@podwright/base';
import type { Lease } from '../store/leases.ts';

export type FailedPullsOptions = {
  /** How long fetched content is retained for the next attempt, in ms. */
  retentionMs: number;
  /** Removes unneeded content. Must not reject. */
  collectGarbage: () => Promise<void>;
};

/** Codes of pull errors after which the next attempt can reuse the content fetched so far. */
const TRANSIENT = ['unavailable', 'deadline_exceeded', 'cancelled', 'aborted'];

/**
 * The content fetched by failed pulls. It is retained for a while if the next attempt can reuse it; otherwise it is removed immediately,
 * for example if the disk is full or the content is wrong.
 */
export class FailedPulls {
  readonly #options: FailedPullsOptions;
  readonly #retained = new Map<Lease, { name: string; timer: NodeJS.Timeout }>();

  constructor(options: FailedPullsOptions) {
    this.#options = options;
  }

  /**
   * Takes over the lease of a pull of `name` that failed or, if `isCancelled` is set, was canceled by all its callers. If the content is
   * not retained, resolves once it has been removed.
   */
  async takeOver(
    lease: Lease,
    { name, error, isCancelled }: { name: string; error: unknown; isCancelled: boolean },
  ): Promise<void> {
    if (!isCancelled && !TRANSIENT.includes(errorCode(error))) return this.#giveUp(lease);
    const timer = setTimeout(() => this.#giveUp(lease), this.#options.retentionMs);
    timer.unref();
    this.#retained.set(lease, { name, timer });
  }

  /**
   * Releases the leases of earlier failed pulls of `name` after a pull has succeeded: their content now either belongs to the image or is
   * useless.
   */
  succeeded(name: string): void {
    for (const [lease, pull] of this.#retained) if (pull.name === name) this.#release(lease);
  }

  /** Releases all leases. The next garbage collection removes their content. */
  close(): void {
    for (const lease of this.#retained.keys()) this.#release(lease);
  }

  #release(lease: Lease): void {
    clearTimeout(this.#retained.get(lease)?.timer);
    this.#retained.delete(lease);
    lease[Symbol.dispose]();
  }

  async #giveUp(lease: Lease): Promise<void> {
    this.#release(lease);
    await this.#options.collectGarbage();
  }
}
