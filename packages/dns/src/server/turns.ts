import { MAX_IDLE_CLIENTS, TURN_MS } from './limits.ts';

/** A client's waiting tasks, in order. */
type Waiting = (() => void)[];

/** Number of turns taken after which the list of turns is shortened. */
const MAX_TAKEN = 1024;

/**
 * Runs the clients' tasks round-robin, so that a client only waits for its own tasks and not for another client's backlog. Lets the process
 * do other work every `TURN_MS`.
 *
 * Clients are kept for a while after their last task. If each task added its client to a map and removed it again, the map would discard
 * its storage every few tasks. Each discarded storage refers to the next one, so that once one of them had become old, only a collection
 * of the whole heap could free those after it.
 */
export class Turns {
  readonly #clients = new Map<string, Waiting>();
  /** The clients with waiting tasks, in the order of their turns. The first `#taken` have had theirs. */
  #turns: Waiting[] = [];
  #taken = 0;
  #count = 0;
  #isScheduled = false;

  /** Total number of waiting tasks of all clients. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Number of waiting tasks of a client. */
  waitingOf(client: string): number {
    return this.#clients.get(client)?.length ?? 0;
  }

  add(client: string, piece: () => void): void {
    const pieces = this.#clients.get(client) ?? this.#newClient(client);
    this.#count++;
    if (pieces.push(piece) === 1) this.#turns.push(pieces);
    this.#schedule();
  }

  #newClient(client: string): Waiting {
    if (this.#clients.size >= MAX_IDLE_CLIENTS && this.#clients.size >= 2 * (this.#turns.length - this.#taken))
      for (const [known, pieces] of this.#clients) if (pieces.length === 0) this.#clients.delete(known);
    const pieces: Waiting = [];
    this.#clients.set(client, pieces);
    return pieces;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#count === 0) return;
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
    while (this.#count > 0) {
      this.#next()();
      if (performance.now() >= endMs) return;
    }
  }

  /** Takes the next task of the client whose turn it is. Its other tasks come after those of the other clients. */
  #next(): () => void {
    const pieces = this.#turns[this.#taken++]!;
    const piece = pieces.shift()!;
    this.#count--;
    if (pieces.length > 0) this.#turns.push(pieces);
    if (this.#taken === this.#turns.length || this.#taken === MAX_TAKEN) {
      this.#turns = this.#turns.slice(this.#taken);
      this.#taken = 0;
    }
    return piece;
  }
}
