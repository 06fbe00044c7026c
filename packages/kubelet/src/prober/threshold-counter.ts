import type { ProbeResult } from './probe-results.ts';

/** Counts answers towards the thresholds; pure. A change of the verdict starts the count anew. */
export class ThresholdCounter {
  #last: 'success' | 'failure' | undefined;
  #run = 0;

  /** The result if the thresholds say one now, else nothing. */
  count(verdict: 'success' | 'failure', thresholds: { success: number; failure: number }): ProbeResult | undefined {
    this.#run = verdict === this.#last ? this.#run + 1 : 1;
    this.#last = verdict;
    return this.#run >= thresholds[verdict] ? verdict : undefined;
  }
}
