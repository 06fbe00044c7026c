import { errorMessage, type Logger } from '@podwright/base';
import type { ClaimLimits } from './claim-limits.ts';

/** Interval between measurements of the largest claims, in milliseconds. */
const PERIOD_MS = 60_000;

export type DiskDetailDependencies = {
  pressure: { has(condition: 'DiskPressure'): boolean; explain(condition: 'DiskPressure', detail: string): void };
  limits: Pick<ClaimLimits, 'largest'>;
  logger: Logger;
};

/** Adds the largest claims to the message of the DiskPressure condition, because evictions do not remove their files. */
export class DiskDetail {
  readonly #deps: DiskDetailDependencies;
  #nextMs = 0;
  #isMeasuring = false;

  constructor(deps: DiskDetailDependencies) {
    this.#deps = deps;
  }

  /** Starts a measurement if the node is under disk pressure and the last one was more than a minute ago. */
  refresh(): void {
    const { pressure, logger } = this.#deps;
    if (!pressure.has('DiskPressure')) {
      this.#nextMs = 0;
      return;
    }
    if (this.#isMeasuring || performance.now() < this.#nextMs) return;
    this.#isMeasuring = true;
    this.#measure()
      .catch((error: unknown) => logger.debug({ error: errorMessage(error) }, 'failed to find the largest claims'))
      .finally(() => {
        this.#isMeasuring = false;
      });
  }

  async #measure(): Promise<void> {
    const { pressure, limits } = this.#deps;
    this.#nextMs = performance.now() + PERIOD_MS;
    const largest = await limits.largest(AbortSignal.timeout(PERIOD_MS));
    pressure.explain('DiskPressure', largest === '' ? '' : `the largest claims are ${largest}`);
  }
}
