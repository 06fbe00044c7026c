/** Maximum number of remembered messages. Beyond that, the oldest is dropped, and might then be logged again before its interval ends. */
const MAX_REMEMBERED = 1000;

/** Limits each distinct message to one log line per interval. */
export class LogReduction {
  readonly #intervalMs: number;
  readonly #now: () => number;
  readonly #lastAtMs = new Map<string, number>();

  constructor(intervalMs: number, now: () => number = Date.now) {
    this.#intervalMs = intervalMs;
    this.#now = now;
  }

  /** Returns whether `message` should be logged now, and if so, counts it as logged. */
  shouldLog(message: string): boolean {
    const now = this.#now();
    const last = this.#lastAtMs.get(message);
    if (last !== undefined && now - last < this.#intervalMs) return false;
    this.#lastAtMs.delete(message);
    this.#lastAtMs.set(message, now);
    if (this.#lastAtMs.size > MAX_REMEMBERED) this.#lastAtMs.delete(this.#lastAtMs.keys().next().value!);
    return true;
  }
}
