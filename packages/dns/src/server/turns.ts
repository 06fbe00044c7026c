import { TURN_MS } from './limits.ts';

/**
 * Runs the clients' tasks round-robin, so that a client only waits for its own tasks and not for another client's backlog. Lets the process
 * do other work every `TURN_MS`.
 */
export class Turns {
  /** The waiting tasks of each client. The client whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #count = 0;
  #isScheduled = false;

  /** Total number of waiting tasks of all clients. */
  get waiting(): number {
    return this.#count;
  }

  /** Number of waiting tasks of a client. */
  waitingOf(client: string): number {
    return this.#waiting.get(client)?.length ?? 0;
  }

  add(client: string, piece: () => void): void {
    const pieces = this.#waiting.get(client);
    this.#count++;
    if (pieces === undefined) this.#waiting.set(client, [piece]);
    else pieces.push(piece);
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
    for (const [client, pieces] of this.#waiting) {
      const piece = pieces.shift();
      this.#count--;
      this.#waiting.delete(client);
      if (pieces.length > 0) this.#waiting.set(client, pieces); // after the other clients
      piece?.();
      if (performance.now() >= endMs) return;
    }
  }
}
