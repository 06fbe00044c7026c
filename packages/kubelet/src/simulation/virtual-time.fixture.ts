/** Virtual time: timers, the monotonic clock, and a wall clock that can be set. It advances only in `pass`. */

/** Who set a timer. The kubelet's timers are dropped when it is killed; those of its environment remain. */
type Owner = 'kubelet' | 'world';

class Timer {
  readonly atMs: number;
  readonly order: number;
  readonly owner: Owner;
  run: (() => void) | undefined;

  constructor(at: { atMs: number; order: number; owner: Owner; run: () => void }) {
    this.atMs = at.atMs;
    this.order = at.order;
    this.owner = at.owner;
    this.run = at.run;
  }

  ref = () => this;
  unref = () => this;
}

/** The wall clock's initial time, 2026-01-01; far from that of the monotonic clock. */
const WALL_START_MS = Date.UTC(2026, 0, 1);
const MONOTONIC_START_MS = 1_000_000;
const TICK_MS = 0.001;

export class VirtualTime {
  #nowMs = MONOTONIC_START_MS;
  #wallMs = WALL_START_MS - MONOTONIC_START_MS;
  #order = 0;
  /** Pending timers, sorted by time, the earliest last. */
  #timers: Timer[] = [];

  get nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return Math.floor(this.#nowMs + this.#wallMs);
  }

  /** Sets the wall clock forward or back. */
  jump(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** Adds a timer that belongs to the environment. */
  after(delayMs: number, run: () => void): void {
    this.#add(delayMs, 'world', run);
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  /** Drops the timers of a killed kubelet. */
  dropKubelet(): void {
    this.#timers = this.#timers.filter(({ owner }) => owner === 'world');
  }

  reset(): void {
    this.#timers = [];
    this.#nowMs = MONOTONIC_START_MS;
    this.#wallMs = WALL_START_MS - MONOTONIC_START_MS;
  }

  /** Advances time, firing the timers that become due. */
  async pass(durationMs: number): Promise<void> {
    const untilMs = this.#nowMs + durationMs;
    await settled();
    for (let next = this.#timers.at(-1); next !== undefined && next.atMs <= untilMs; next = this.#timers.at(-1)) {
      this.#timers.pop();
      if (next.run === undefined) continue;
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.run();
      await settled();
    }
    this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  /** Replaces the process's clocks and timers. Returns a function that undoes this. */
  install(): () => void {
    const { setTimeout, clearTimeout } = globalThis;
    const { now } = Date;
    const monotonic = performance.now;
    const replace = (fakes: object) => Object.assign(globalThis, fakes);
    replace({
      setTimeout: (run: () => void, delayMs = 0) => this.#add(delayMs, 'kubelet', run),
      clearTimeout: (timer: Timer | undefined) => {
        if (timer !== undefined) timer.run = undefined;
      },
    });
    Date.now = () => this.wallMs();
    // advance by a tiny amount, so that no two calls return the same time
    performance.now = () => {
      this.#nowMs += TICK_MS;
      return this.#nowMs;
    };
    return () => {
      replace({ setTimeout, clearTimeout });
      Date.now = now;
      performance.now = monotonic;
    };
  }

  #add(delayMs: number, owner: Owner, run: () => void): Timer {
    // a timer fires after at least one millisecond, as in Node.js
    const timer = new Timer({ atMs: this.#nowMs + Math.max(1, delayMs), order: this.#order++, owner, run });
    let at = this.#timers.length;
    while (at > 0 && comesBefore(this.#timers[at - 1]!, timer)) at--;
    this.#timers.splice(at, 0, timer);
    return timer;
  }
}

function comesBefore(one: Timer, other: Timer): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}

/** Resolves when no promise callbacks are pending. */
function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
