import {
  amountOf,
  isInBytes,
  isOfDisk,
  type Observations,
  type Signal,
  type Threshold,
} from '@podwright/kubelet-configuration';

/** Minimum time between two disk checks while a disk is filling up. */
const EVICTION_MIN_LOOK_MS = 100;

/** Assumed maximum rate at which a new writer fills a disk, in bytes per second. `EXPECTED_INODES`: the same in inodes per second. */
const EXPECTED_BYTES = 100 << 20;
const EXPECTED_INODES = 20_000;

/**
 * Returns the delay until the next disk check: half the time until a threshold would be reached at the rate between the last two checks,
 * but at most the time that a new writer would take to reach it at the assumed maximum rate. A check takes about 0.5 ms of CPU time. Memory
 * and PIDs are ignored. Pure.
 */
export function nextLookMs(
  thresholds: readonly Threshold[],
  { before, now }: { before: Observations; now: Observations },
  longestMs: number,
): number {
  const times = thresholds
    .filter(({ signal }) => isOfDisk(signal))
    .flatMap(({ signal, value }) => {
      const [observed, earlier] = [now.get(signal), before.get(signal)];
      if (observed === undefined || observed.capacity === 0n) return []; // a file system that counts no inodes
      const left = Number(observed.available - amountOf(value, observed.capacity));
      const consumed = earlier === undefined ? 0 : Number(earlier.available - observed.available);
      const aSecond = consumed <= 0 ? 0 : (consumed / Math.max(1, observed.atMs - earlier!.atMs)) * 1000;
      return [(left / Math.max(expected(signal), 2 * aSecond)) * 1000];
    });
  return Math.min(longestMs, Math.max(EVICTION_MIN_LOOK_MS, Math.min(...times)));
}

const expected = (signal: Signal) => (isInBytes(signal) ? EXPECTED_BYTES : EXPECTED_INODES);
