import type { CgroupStats } from './stats.ts';

/** Minimum time between the two samples from which a CPU usage rate is computed. */
const SAMPLE_MS = 100;
const SAMPLE_LIFETIME_MS = 600_000;

type Sample = { atMs: number; usageNanoseconds: number; nanoCores: number | undefined };

/** Computes CPU usage rates by ID, each from two samples of the kernel's cumulative counter. */
export class CpuSamples {
  readonly #samples = new Map<string, Sample>();

  /**
   * Returns the average usage since the previous sample for `id`, in nanocores, or `undefined` for the first sample. If called less than
   * 100 ms after the previous sample, returns that sample's rate again.
   */
  nanoCores(id: string, { readAtMs, cpu }: Pick<CgroupStats, 'readAtMs' | 'cpu'>): number | undefined {
    if (cpu === undefined) return undefined;
    const known = this.#samples.get(id);
    const last = known !== undefined && known.atMs > readAtMs ? undefined : known; // the host's clock was set back
    if (last !== undefined && readAtMs - last.atMs < SAMPLE_MS) return last.nanoCores;
    const used = last === undefined ? undefined : cpu.usageNanoseconds - last.usageNanoseconds;
    const nanoCores = used === undefined ? undefined : Math.max(0, Math.round((used * 1000) / (readAtMs - last!.atMs)));
    this.#samples.set(id, { atMs: readAtMs, usageNanoseconds: cpu.usageNanoseconds, nanoCores });
    for (const [other, { atMs }] of this.#samples)
      if (readAtMs - atMs > SAMPLE_LIFETIME_MS) this.#samples.delete(other);
    return nanoCores;
  }
}
