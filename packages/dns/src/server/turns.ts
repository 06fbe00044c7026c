import { TurnQueue } from '@podwright/base';
import { TURN_MS } from './limits.ts';

/**
 * Runs the clients' tasks round-robin, so that a client only waits for its own tasks and not for another client's backlog. Lets the process
 * do other work every `TURN_MS`.
 */
export class Turns {
  /** The waiting tasks of each client. */
  readonly #waiting = new TurnQueue<() => void>();
  #isScheduled = false;

  /** Total number of waiting tasks of all clients. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Number of waiting tasks of a client. */
  waitingOf(client: string): number {
    return this.#waiting.sizeOf(client);
  }

  add(client: string, piece: () => void): void {
    this.#waiting.add(client, piece);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      try {
        this.#run();
      } finally {
        this.#schedule();
      }
    });
  }

  #run(): void {
    const endMs = performance.now() + TURN_MS;
    for (let piece = this.#waiting.take(); piece !== undefined; piece = this.#waiting.take()) {
      piece();
      if (performance.now() >= endMs) return;
    }
  }
}
