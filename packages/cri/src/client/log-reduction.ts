/** Remembered messages at most; the oldest is forgotten (and may then be logged early). */
const MAX_REMEMBERED = 1000;

/** Lets a message through that was not let through within the last interval. */
export class LogReduction {
  readonly #intervalMs: number;
  readonly #now: () => number;
  readonly #lastAtMs = new Map<string, number>();

  constructor(intervalMs: number, now: () => number = Date.now) {
    this.#intervalMs = intervalMs;
    this.#now = now;
  }

  /** True if `message` should be logged now, which then counts as done. */
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
