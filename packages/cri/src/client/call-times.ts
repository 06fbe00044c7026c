type Deadline = { dueMs: number; onOver: () => void };

/**
 * Ends calls when their time is over. Calls that may take equally long share one timer, which is set anew when it comes and not with
 * each call: a timer that is alone with its duration costs Node.js more than all else that a deadline takes. It keeps no process alive.
 */
export class CallTimes {
  /** By duration: those of calls under way, in order. */
  readonly #deadlines = new Map<number, Set<Deadline>>();

  /** Calls `onOver` after so many milliseconds, unless it is taken back by what is returned. */
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
    setTimeout(() => this.#end(durationMs), waitMs).unref();
  }

  #end(durationMs: number): void {
    const deadlines = this.#deadlines.get(durationMs)!;
    const nowMs = performance.now() + 1; // a timer of Node may come a little early
    for (const deadline of deadlines) {
      if (deadline.dueMs > nowMs) return this.#wait(durationMs, deadline.dueMs - nowMs + 1);
      deadlines.delete(deadline);
      deadline.onOver();
    }
    this.#deadlines.delete(durationMs);
  }
}
