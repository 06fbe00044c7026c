/**
 * Work that gives way to what somebody waits for: each piece begins after `delayMs`, or as soon as it is asked for. What has not
 * begun when the process ends is not done: a start has to find it.
 */
export class Later {
  readonly #delayMs: number;
  readonly #waiting = new Map<string, { timer: NodeJS.Timeout; work: () => void }>();

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  /** `key` names the piece: one that waits under it is replaced. */
  add(key: string, work: () => void): void {
    clearTimeout(this.#waiting.get(key)?.timer);
    const timer = setTimeout(() => this.begin(key), this.#delayMs);
    this.#waiting.set(key, { timer, work });
  }

  /** Begins the piece now, if it waits. */
  begin(key: string): void {
    const waiting = this.#waiting.get(key);
    this.#waiting.delete(key);
    clearTimeout(waiting?.timer);
    waiting?.work();
  }

  /** Begins all that waits now. */
  beginAll(): void {
    for (const key of [...this.#waiting.keys()]) this.begin(key);
  }

  /** Forgets what waits. */
  close(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }
}
