import { Backoff, type BackoffPolicy, sleep } from '@podwright/base';

/**
 * Backs off from a server that accepts connections but closes them without a response. The first reconnect is immediate, because the server
 * might be shutting down gracefully; after that, the delay doubles with each connection. All calls share it.
 */
export class ConnectPauses {
  readonly #backoff: Backoff;
  #endedInARow = 0;

  constructor(policy: BackoffPolicy) {
    this.#backoff = new Backoff(policy);
  }

  ended(): void {
    if (++this.#endedInARow > 1) this.#backoff.next('');
  }

  answered(): void {
    this.#endedInARow = 0;
    this.#backoff.forget('');
  }

  /** Waits for the current delay. Rejects with the signal's reason if it aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    const remainingMs = this.#backoff.remainingMs('');
    if (remainingMs > 0) await sleep(remainingMs * (1 + 0.1 * Math.random()), signal);
  }
}
