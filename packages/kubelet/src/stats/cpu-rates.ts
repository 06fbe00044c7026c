import { LEAST_USAGE_WINDOW_MS } from '../usage/limits.ts';

type Look = { usedNs: bigint; atNs: bigint };

const LEAST_WINDOW_NS = BigInt(LEAST_USAGE_WINDOW_MS) * 1_000_000n;

/**
 * CPU in thousand-millionths of a core, from counters that only grow: between the newest look and the last one that is at least
 * half a second older. Nothing at the first look.
 */
export class CpuRates {
  #looks = new Map<string, { before?: Look; last: Look }>();

  /** Notes a counter of nanoseconds, as it was `atNs` nanoseconds after the epoch, and returns the rate. */
  rate(key: string, usedNs: bigint, atNs: bigint): number | undefined {
    const now = { usedNs, atNs };
    const known = this.#looks.get(key);
    if (known === undefined) {
      this.#looks.set(key, { last: now });
      return undefined;
    }
    const ageNs = atNs - known.last.atNs;
    const isYoung = ageNs >= 0n && ageNs < LEAST_WINDOW_NS; // negative: the host's clock was set back
    const before = isYoung ? known.before : known.last;
    if (!isYoung) this.#looks.set(key, { before: known.last, last: now });
    return before && rateBetween(before, now);
  }

  /** Forgets every other key. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#looks.keys()) if (!keys.has(key)) this.#looks.delete(key);
  }
}

/** Nothing for a counter that began again. */
function rateBetween(before: Look, now: Look): number | undefined {
  const elapsed = now.atNs - before.atNs;
  const used = now.usedNs - before.usedNs;
  return elapsed > 0n && used >= 0n ? Number((used * 1_000_000_000n) / elapsed) : undefined;
}
