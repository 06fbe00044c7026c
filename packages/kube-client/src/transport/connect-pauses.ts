import { Backoff, type BackoffPolicy, sleep } from '@podwright/base';

/**
 * Paces connections to a server that takes them and ends them without an answer. The first is made anew at once, as its server may
 * just be going away in order; each further one waits twice as long as that before, for all calls alike.
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

  /** Rejects with the signal's reason. */
  async wait(signal: AbortSignal): Promise<void> {
    const remainingMs = this.#backoff.remainingMs('');
    if (remainingMs > 0) await sleep(remainingMs * (1 + 0.1 * Math.random()), signal);
  }
}
