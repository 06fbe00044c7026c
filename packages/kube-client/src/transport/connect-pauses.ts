import { Backoff, type BackoffPolicy, sleep } from '@podwright/base';

/**
 * Delays connection attempts to a server that accepts connections but closes them without sending a response. The first reconnect is
 * immediate, because the server may be shutting down gracefully. After that, the delay doubles with each connection. It applies to all
 * calls.
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

  /** Waits for the current delay. Rejects with the signal's abort reason if the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    const remainingMs = this.#backoff.remainingMs('');
    if (remainingMs > 0) await sleep(remainingMs * (1 + 0.1 * Math.random()), signal);
  }
}
