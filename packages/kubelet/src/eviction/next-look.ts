import { amountOf, isInBytes, isOfDisk, type Signal, type Threshold } from '@podwright/kubelet-configuration';
import type { Observations } from './observed-signals.ts';

/** How soon the disks are looked at again at the soonest while one of them fills. */
const EVICTION_MIN_LOOK_MS = 100;

/** What a disk is expected to lose at most in a second while nothing is known of a writer, in bytes and in inodes. */
const EXPECTED_BYTES = 100 << 20;
const EXPECTED_INODES = 20_000;

/**
 * How long disks need not be looked at: half of the time in which space, or inodes, reach a threshold as fast as they went
 * between the last two looks, and no longer than an ordinary writer takes. A look takes some 0.5 ms of processor time. Memory
 * and processes do not count. Pure.
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
      const gone = earlier === undefined ? 0 : Number(earlier.available - observed.available);
      const aSecond = gone <= 0 ? 0 : (gone / Math.max(1, observed.atMs - earlier!.atMs)) * 1000;
      return [(left / Math.max(expected(signal), 2 * aSecond)) * 1000];
    });
  return Math.min(longestMs, Math.max(EVICTION_MIN_LOOK_MS, Math.min(...times)));
}

const expected = (signal: Signal) => (isInBytes(signal) ? EXPECTED_BYTES : EXPECTED_INODES);
