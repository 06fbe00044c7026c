import { Timer } from '@podwright/base';

/** An alarm that is set, until it rings or is taken back. */
export type Alarm = { readonly dueMs: number; readonly ring: () => void };

/**
 * Rings when probes are due (monotonic). All share one timer: Node.js keeps a list for each duration, so that a timer for each of a
 * hundred probes, every one with a duration of its own, would cost several times as much.
 */
export class ProbeClock {
  /** The earliest first. */
  readonly #alarms: Alarm[] = [];
  #timer: Timer | undefined;
  /** The time that the timer is set for. */
  #timerMs = Number.POSITIVE_INFINITY;

  set(dueMs: number, ring: () => void): Alarm {
    const alarm = { dueMs, ring };
    this.#alarms.splice(this.#placeOf(dueMs), 0, alarm);
    if (dueMs < this.#timerMs) this.#wait();
    return alarm;
  }

  takeBack(alarm: Alarm): void {
    const at = this.#alarms.indexOf(alarm);
    if (at !== -1) this.#alarms.splice(at, 1);
    if (this.#alarms.length === 0) this.#wait();
  }

  /** After those that are due before, or at the same time. */
  #placeOf(dueMs: number): number {
    let [low, high] = [0, this.#alarms.length];
    if (high > 0 && this.#alarms[high - 1]!.dueMs <= dueMs) return high; // mostly
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#alarms[middle]!.dueMs <= dueMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #wait(): void {
    this.#timer?.[Symbol.dispose]();
    const next = this.#alarms[0];
    this.#timerMs = next?.dueMs ?? Number.POSITIVE_INFINITY;
    if (next === undefined) return;
    const waitMs = Math.max(1, next.dueMs - performance.now()); // probes may have come due while others began
    this.#timer = new Timer(() => this.#ring(), waitMs);
  }

  /** A timer of Node.js may fire slightly early. */
  #ring(): void {
    const nowMs = performance.now() + 1;
    while (this.#alarms.length > 0 && this.#alarms[0]!.dueMs <= nowMs) this.#alarms.shift()!.ring();
    this.#wait();
  }
}
