/**
 * Defers work so that it does not slow down work that a caller waits for. Each piece starts after `delayMs`, or as soon as `begin`
 * requests it. Pieces that have not started when the process exits are lost; the next process has to find out what is left to do.
 */
export class Later {
  readonly #delayMs: number;
  readonly #waiting = new Map<string, { timer: NodeJS.Timeout; work: () => void }>();

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  /** Schedules a piece of work. It replaces a waiting piece with the same `key`. */
  add(key: string, work: () => void): void {
    clearTimeout(this.#waiting.get(key)?.timer);
    const timer = setTimeout(() => this.begin(key), this.#delayMs);
    this.#waiting.set(key, { timer, work });
  }

  /** Starts the piece now, if it is waiting. */
  begin(key: string): void {
    const waiting = this.#waiting.get(key);
    this.#waiting.delete(key);
    clearTimeout(waiting?.timer);
    waiting?.work();
  }

  /** Starts all waiting pieces now. */
  beginAll(): void {
    for (const key of [...this.#waiting.keys()]) this.begin(key);
  }

  /** Drops all waiting pieces. */
  close(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }
}
