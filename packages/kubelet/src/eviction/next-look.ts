import { amountOf, isInBytes, isOfDisk, type Signal, type Threshold } from '@podwright/kubelet-configuration';
import type { Observations } from './observed-signals.ts';

/** Minimum time between two checks of the disks while one of them fills. */
const EVICTION_MIN_LOOK_MS = 100;

/** Assumed maximum consumption of a new writer in a second, in bytes and in inodes. */
const EXPECTED_BYTES = 100 << 20;
const EXPECTED_INODES = 20_000;

/**
 * Time until the disks must be checked again: half of the time in which space or inodes reach a threshold at the rate between the last
 * two checks, and no longer than a new writer at the assumed rate takes. A check takes some 0.5 ms of CPU time. Memory and processes are
 * ignored. Pure.
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
