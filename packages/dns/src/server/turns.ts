import { TURN_MS } from './limits.ts';

/**
 * Runs the work of clients: one piece of each client after the other, so that a client waits for its own pieces and not for those of
 * another. After `TURN_MS`, the other work of the process goes first.
 */
export class Turns {
  /** The pieces of each client, the client whose turn is next first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #count = 0;
  #isScheduled = false;

  /** How many pieces of all clients wait. */
  get waiting(): number {
    return this.#count;
  }

  /** How many pieces of a client wait. */
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
