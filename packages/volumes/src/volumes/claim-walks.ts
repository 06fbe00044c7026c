import { ignoreFailure, pause } from '@podwright/base';
import type { DirectoryClaim } from './claim-capacity.ts';

/**
 * Maximum and minimum time limit for a walk, and interval between walks of the same claim, in milliseconds. The more claims are waiting,
 * the shorter the time limit is, so that an owner of many claims cannot delay the measurement of the one that fills the disk.
 */
const WALK_MS = 10_000;
const MIN_WALK_MS = 500;
const EVERY_MS = 60_000;
/** Length of the pause after a walk, as a multiple of its duration, which keeps walks from hogging a CPU. */
const PAUSE_FACTOR = 4;

type Measure = (
  claim: DirectoryClaim,
  options: { signal: AbortSignal; timeoutMs: number },
) => Promise<{ bytes: number } | undefined>;

/** Measures claims in the background, one at a time, since the owner of a claim controls how long its walk takes. */
export class ClaimWalks {
  readonly #measure: Measure;
  /** Claims to measure, by path, in order. */
  readonly #waiting = new Map<string, DirectoryClaim>();
  /** Results of walks, by path of the claim's directory. `bytes` is undefined if the last walk failed. Times are monotonic. */
  readonly #measured = new Map<string, { atMs: number; bytes: number | undefined }>();
  #isRunning = false;

  constructor(measure: Measure) {
    this.#measure = measure;
  }

  /**
   * Returns a claim's usage as of its last walk; `undefined` if unknown. Queues another walk if the last one was more than a minute ago.
   */
  useOf(claim: DirectoryClaim, signal: AbortSignal): number | undefined {
    const known = this.#measured.get(claim.path);
    if (known === undefined || performance.now() - known.atMs > EVERY_MS) {
      this.#waiting.set(claim.path, claim);
      if (!this.#isRunning) ignoreFailure(this.#run(signal), 'walks end when the node stops');
    }
    return known?.bytes;
  }

  /** Drops the measurements of all claims except those with these paths. */
  keep(paths: ReadonlySet<string>): void {
    for (const known of [this.#measured, this.#waiting])
      for (const path of known.keys()) if (!paths.has(path)) known.delete(path);
  }

  async #run(signal: AbortSignal): Promise<void> {
    this.#isRunning = true;
    try {
      for (let claim = this.#next(); claim !== undefined; claim = this.#next()) {
        const beginMs = performance.now();
        const timeoutMs = Math.max(MIN_WALK_MS, WALK_MS / this.#waiting.size);
        const use = await this.#measure(claim, { signal, timeoutMs });
        this.#measured.set(claim.path, { atMs: performance.now(), bytes: use?.bytes });
        this.#waiting.delete(claim.path);
        await pause((performance.now() - beginMs) * PAUSE_FACTOR, signal);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  #next(): DirectoryClaim | undefined {
    const [next] = this.#waiting.values();
    return next;
  }
}
