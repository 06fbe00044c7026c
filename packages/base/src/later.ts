/**
 * Defers work so that it does not slow down work that a caller is waiting for. Each work item starts after `delayMs`, or earlier if `begin`
 * is called for it. Items still pending when the process exits are lost, so after a restart the process must find out what is left to do.
 */
export class Later {
  readonly #delayMs: number;
  readonly #waiting = new Map<string, { timer: NodeJS.Timeout; work: () => void }>();

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  /** Schedules a work item, replacing a pending one with the same key. */
  add(key: string, work: () => void): void {
    clearTimeout(this.#waiting.get(key)?.timer);
    const timer = setTimeout(() => this.begin(key), this.#delayMs);
    this.#waiting.set(key, { timer, work });
  }

  /** Starts the work item with this key immediately if it is still pending. */
  begin(key: string): void {
    const waiting = this.#waiting.get(key);
    this.#waiting.delete(key);
    clearTimeout(waiting?.timer);
    waiting?.work();
  }

  /** Starts all pending work immediately. */
  beginAll(): void {
    for (const key of [...this.#waiting.keys()]) this.begin(key);
  }

  /** Drops all pending work. */
  close(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }
}
