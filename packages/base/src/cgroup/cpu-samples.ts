import type { CgroupStats } from './stats.ts';

/** CPU use is told over at least this long. */
const SAMPLE_MS = 100;
/** Samples of things that are gone are forgotten in time. */
const SAMPLE_LIFETIME_MS = 600_000;

type Sample = { atMs: number; usageNanoseconds: number; nanoCores: number | undefined };

/** The use of CPUs between two looks at the same thing, from what the kernel counts since its start. */
export class CpuSamples {
  readonly #samples = new Map<string, Sample>();

  /** In billionths of a CPU, since the last look at `id`; nothing at the first. */
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
