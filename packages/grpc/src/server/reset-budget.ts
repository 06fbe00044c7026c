import { PodwrightError } from '@podwright/base';
import { MAX_RESETS, RESETS_PER_SECOND } from '../limits.ts';

/**
 * Limits how many calls a client may reset. Each reset call has already started work, and a client that resets its calls immediately never
 * reaches the limit on concurrent calls (CVE-2023-44487).
 */
export class ResetBudget {
  #spent = 0;
  #atMs = performance.now();

  /** Counts one reset. Throws `resource_exhausted` if the limit is exceeded. */
  spend(): void {
    const nowMs = performance.now();
    this.#spent = Math.max(0, this.#spent - ((nowMs - this.#atMs) / 1000) * RESETS_PER_SECOND) + 1;
    this.#atMs = nowMs;
    if (this.#spent > MAX_RESETS) throw new PodwrightError('resource_exhausted', 'HTTP/2: too many calls were cut');
  }
}
