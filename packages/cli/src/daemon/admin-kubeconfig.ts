import { errorMessage, type Logger, Timer } from '@podwright/base';

export type AdminKubeconfigParts = {
  /** Writes the kubeconfig with a newly issued certificate. */
  write: () => Promise<void>;
  /** How long a newly issued certificate is valid, in milliseconds. */
  lifeMs: number;
  logger: Pick<Logger, 'info' | 'warn'>;
  now?: () => number;
  checkEveryMs?: number;
};

/**
 * Interval between checks of the certificate's validity. A single timer is not enough, because the clock may be set and the machine may be
 * suspended.
 */
const CHECK_EVERY_MS = 60_000;
const RENEWAL_SHARE = 2 / 3;

/** The administrator's kubeconfig. Until disposed, it is rewritten before its certificate expires and after the system time is set back. */
export class AdminKubeconfig implements Disposable {
  readonly #parts: AdminKubeconfigParts;
  readonly #now: () => number;
  #writtenMs: number;
  #timer: Timer;
  #isDisposed = false;

  private constructor(parts: AdminKubeconfigParts, writtenMs: number) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
    this.#writtenMs = writtenMs;
    this.#timer = this.#next();
  }

  /** Writes the kubeconfig and starts keeping it up to date. Rejects if the first write fails; later failures are logged. */
  static async start(parts: AdminKubeconfigParts): Promise<AdminKubeconfig> {
    const { now = Date.now } = parts;
    const nowMs = now();
    await parts.write();
    return new AdminKubeconfig(parts, nowMs);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#timer[Symbol.dispose]();
  }

  #next(): Timer {
    const { checkEveryMs = CHECK_EVERY_MS } = this.#parts;
    return new Timer(() => void this.#check(), checkEveryMs).unref();
  }

  async #check(): Promise<void> {
    const { write, lifeMs, logger } = this.#parts;
    const nowMs = this.#now();
    if (nowMs < this.#writtenMs || nowMs >= this.#writtenMs + lifeMs * RENEWAL_SHARE)
      try {
        await write();
        this.#writtenMs = nowMs;
        logger.info({}, "renewed the administrator's kubeconfig");
      } catch (error) {
        logger.warn({ error: errorMessage(error) }, "renew the administrator's kubeconfig failed, trying again");
      }
    if (!this.#isDisposed) this.#timer = this.#next();
  }
}
