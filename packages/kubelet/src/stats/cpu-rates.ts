import { LEAST_USAGE_WINDOW_MS } from '../usage/limits.ts';

type Sample = { usedNs: bigint; atNs: bigint };

const LEAST_WINDOW_NS = BigInt(LEAST_USAGE_WINDOW_MS) * 1_000_000n;

/**
 * CPU usage rates in nanocores, computed from monotonic counters. A rate spans the newest sample and the latest one that is at least half a
 * second older. The first sample yields no rate.
 */
export class CpuRates {
  #samples = new Map<string, { before?: Sample; last: Sample }>();

  /** Records a CPU time counter (nanoseconds) as of `atNs` (nanoseconds since the epoch). Returns the current rate. */
  rate(key: string, usedNs: bigint, atNs: bigint): number | undefined {
    const now = { usedNs, atNs };
    const known = this.#samples.get(key);
    if (known === undefined) {
      this.#samples.set(key, { last: now });
      return undefined;
    }
    const ageNs = atNs - known.last.atNs;
    const isYoung = ageNs >= 0n && ageNs < LEAST_WINDOW_NS; // negative: the host's clock was set back
    const before = isYoung ? known.before : known.last;
    if (!isYoung) this.#samples.set(key, { before: known.last, last: now });
    return before && rateBetween(before, now);
  }

  /** Drops all keys that are not in `keys`. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#samples.keys()) if (!keys.has(key)) this.#samples.delete(key);
  }
}

/** Returns the rate between two samples; `undefined` if the counter was reset in between. */
function rateBetween(before: Sample, now: Sample): number | undefined {
  const elapsed = now.atNs - before.atNs;
  const used = now.usedNs - before.usedNs;
  return elapsed > 0n && used >= 0n ? Number((used * 1_000_000_000n) / elapsed) : undefined;
}
