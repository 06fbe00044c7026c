import { EventLoopBudget } from './event-loop-budget.ts';

/** Slack of the wall-clock limit: including waits, work can take at most ten times its budget plus this time. */
const WAITS_MS = 1000;

/**
 * Limits how long work may block the event loop, both in total and at a stretch. Waits do not count toward the budget, but the wall-clock
 * time is limited as well, and the work must end by `deadlineMs` on the monotonic clock (`performance.now()`).
 */
export class WorkBudget {
  readonly #budgetMs: number;
  #leftMs: number;
  readonly #endMs: number;
  readonly #deadlineMs: number;
  /** When the work last resumed after a wait (`performance.now()`). */
  #resumedMs = performance.now();
  readonly #slice = new EventLoopBudget();

  constructor(budgetMs: number, { deadlineMs = Number.POSITIVE_INFINITY } = {}) {
    this.#budgetMs = budgetMs;
    this.#deadlineMs = deadlineMs;
    this.#leftMs = budgetMs;
    this.#endMs = this.#resumedMs + 10 * budgetMs + WAITS_MS;
  }

  get isSpent(): boolean {
    const nowMs = performance.now();
    return nowMs - this.#resumedMs >= this.#leftMs || nowMs >= this.#endMs || this.isLate;
  }

  /** Whether `deadlineMs` has passed. */
  get isLate(): boolean {
    return performance.now() >= this.#deadlineMs;
  }

  /** Returns how much of the budget was used up to the start of the last wait. */
  get spentMs(): number {
    return this.#budgetMs - this.#leftMs;
  }

  /**
   * Yields to the event loop if the current time slice is used up. Returns false if the work must stop, because its budget or time is used
   * up.
   */
  async mayContinue(): Promise<boolean> {
    if (this.isSpent) return false;
    if (this.#slice.isSpent) await this.wait(this.#slice.renew());
    return true;
  }

  /** Awaits a promise without counting the wait towards the budget. */
  async wait<T>(result: Promise<T>): Promise<T> {
    this.#leftMs -= performance.now() - this.#resumedMs;
    try {
      return await result;
    } finally {
      this.#resumedMs = performance.now();
    }
  }
}
