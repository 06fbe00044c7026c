/** Collects changes and applies them together before the next animation frame. */

/** Delay while the page is in the background, where browsers do not render frames. */
const HIDDEN_DELAY_MS = 1000;

/** Schedules `run` to be called once, later. */
export type Schedule = (run: () => void) => void;

const atNextFrame: Schedule = (run) => {
  const once = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    run();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, HIDDEN_DELAY_MS);
};

/** Items that are applied together, once per frame. */
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
    if (this.#waiting.length === 1) this.#schedule(() => this.#flush());
  }

  /** Discards items that have not been applied yet. */
  drop(): void {
    this.#waiting = [];
  }

  #flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length > 0) this.#apply(batch);
  }
}
