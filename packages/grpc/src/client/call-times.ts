import { Timer } from '@podwright/base';

type Deadline = { dueMs: number; onOver: () => void };

/**
 * Manages call deadlines. Calls with the same timeout share one timer, which is rescheduled when it fires rather than for each call: in
 * Node.js, creating the first timer with a given duration costs more than everything else about a deadline. The timers do not keep the
 * process alive.
 */
export class CallTimes {
  /** Deadlines of in-flight calls, by duration. Each set is in order of expiry. */
  readonly #deadlines = new Map<number, Set<Deadline>>();

  /** Calls `onOver` after `durationMs`, unless the returned function is called first to cancel it. */
  begin(durationMs: number, onOver: () => void): () => void {
    const deadlines = this.#deadlines.get(durationMs) ?? new Set();
    const deadline = { dueMs: performance.now() + durationMs, onOver };
    deadlines.add(deadline);
    if (!this.#deadlines.has(durationMs)) {
      this.#deadlines.set(durationMs, deadlines);
      this.#wait(durationMs, durationMs);
    }
    return () => deadlines.delete(deadline);
  }

  #wait(durationMs: number, waitMs: number): void {
    new Timer(() => this.#end(durationMs), waitMs).unref();
  }

  #end(durationMs: number): void {
    const deadlines = this.#deadlines.get(durationMs)!;
    const nowMs = performance.now() + 1; // a timer of Node.js may fire slightly early
    for (const deadline of deadlines) {
      if (deadline.dueMs > nowMs) return this.#wait(durationMs, deadline.dueMs - nowMs + 1);
      deadlines.delete(deadline);
      deadline.onOver();
    }
    this.#deadlines.delete(durationMs);
  }
}
