import { Timer } from '@podwright/base';

/** A pending callback of the clock. */
export type Alarm = { readonly dueMs: number; readonly ring: () => void };

/**
 * Calls back when probes are due (monotonic time). All alarms share one timer: Node.js keeps a list per timer duration, so a hundred probes
 * with separate timers of distinct durations would cost several times as much.
 */
export class ProbeClock {
  /** Pending alarms, sorted by time, the earliest first. */
  readonly #alarms: Alarm[] = [];
  #timer: Timer | undefined;
  /** When `#timer` will fire (monotonic milliseconds); Infinity if it is not set. */
  #timerMs = Number.POSITIVE_INFINITY;

  set(dueMs: number, ring: () => void): Alarm {
    const alarm = { dueMs, ring };
    this.#alarms.splice(this.#indexFor(dueMs), 0, alarm);
    if (dueMs < this.#timerMs) this.#wait();
    return alarm;
  }

  cancel(alarm: Alarm): void {
    const at = this.#alarms.indexOf(alarm);
    if (at !== -1) this.#alarms.splice(at, 1);
    if (this.#alarms.length === 0) this.#wait();
  }

  /** Returns the index at which to insert an alarm: after all alarms due earlier or at the same time. */
  #indexFor(dueMs: number): number {
    let [low, high] = [0, this.#alarms.length];
    if (high > 0 && this.#alarms[high - 1]!.dueMs <= dueMs) return high; // common case: the alarm is the last one due
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
    const waitMs = Math.max(1, next.dueMs - performance.now()); // more probes may be due by now
    this.#timer = new Timer(() => this.#ring(), waitMs);
  }

  /** Fires the alarms that are due or will be due within 1 ms, because a Node.js timer might fire slightly early. */
  #ring(): void {
    const nowMs = performance.now() + 1;
    while (this.#alarms.length > 0 && this.#alarms[0]!.dueMs <= nowMs) this.#alarms.shift()!.ring();
    this.#wait();
  }
}
