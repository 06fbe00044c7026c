/** Collects calls, and makes them together before the next frame is drawn. */

/** A page in the background draws no frames. */
const HIDDEN_DELAY_MS = 1000;

export type Schedule = (run: () => void) => void;

/** Runs at the next frame or, in a hidden page, after a second. */
export const atNextFrame: Schedule = (run) => {
  const once = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    run();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, HIDDEN_DELAY_MS);
};

/** A list of changes that is handed on once for a frame. */
export class FrameBatch<T> {
  readonly #apply: (batch: T[]) => void;
  readonly #schedule: Schedule;
  #waiting: T[] = [];

  constructor(apply: (batch: T[]) => void, schedule: Schedule = atNextFrame) {
    this.#apply = apply;
    this.#schedule = schedule;
  }

  add(item: T): void {
    this.#waiting.push(item);
    if (this.#waiting.length === 1) this.#schedule(() => this.flush());
  }

  /** Hands on what waits. */
  flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length > 0) this.#apply(batch);
  }

  drop(): void {
    this.#waiting = [];
  }
}
