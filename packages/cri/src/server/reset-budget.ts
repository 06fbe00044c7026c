import { PodwrightError } from '@podwright/base';
import { MAX_RESETS, RESETS_PER_SECOND } from '../limits.ts';

/**
 * How many of its calls a client may cut: each has begun work, and the bound on calls under way is none for who cuts them at once
 * (CVE-2023-44487).
 */
export class ResetBudget {
  #spent = 0;
  #atMs = performance.now();

  /** Throws `resource_exhausted` once there were too many. */
  spend(): void {
    const nowMs = performance.now();
    this.#spent = Math.max(0, this.#spent - ((nowMs - this.#atMs) / 1000) * RESETS_PER_SECOND) + 1;
    this.#atMs = nowMs;
    if (this.#spent > MAX_RESETS) throw new PodwrightError('resource_exhausted', 'HTTP/2: too many calls were cut');
  }
}
