import { EventLoopBudget } from './event-loop-budget.ts';

/** Added to ten times the budget, gives the time that the work may take including its waits. */
const WAITS_MS = 1000;

/**
 * Bounds how long work holds the event loop, in total and at a time. Waits do not count towards the budget, but the time including
 * all waits is bounded, too, and the work must end at `deadlineMs` of the monotonic clock (`performance.now()`).
 */
export class WorkBudget {
  readonly #budgetMs: number;
  #leftMs: number;
  readonly #endMs: number;
  readonly #deadlineMs: number;
  /** Time at which the last wait ended. */
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

  /** Whether the deadline has passed. */
  get isLate(): boolean {
    return performance.now() >= this.#deadlineMs;
  }

  /** Time that the work had used when its last wait began. */
  get spentMs(): number {
    return this.#budgetMs - this.#leftMs;
  }

  /** Yields to the event loop if the current slice is spent. Returns whether the work may continue. */
  async mayContinue(): Promise<boolean> {
    if (this.isSpent) return false;
    if (this.#slice.isSpent) await this.wait(this.#slice.renew());
    return true;
  }

  /** Waits for a result. The wait does not count towards the budget. */
  async wait<T>(result: Promise<T>): Promise<T> {
    this.#leftMs -= performance.now() - this.#resumedMs;
    try {
      return await result;
    } finally {
      this.#resumedMs = performance.now();
    }
  }
}
