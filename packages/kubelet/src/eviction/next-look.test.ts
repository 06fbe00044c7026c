import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Observations, type Signal, thresholdsOf } from '@podwright/kubelet-configuration';
import { nextLookMs } from './next-look.ts';

const GIB = 1 << 30;
const PERIOD_MS = 10_000;

/** Checks the delay after two observations, one second apart, of a disk with thresholds at 10%; `before` and `now` are its free amounts. */
function check(
  capacity: number,
  [before, now]: [number | undefined, number],
  expected: number,
  signal: Signal = 'nodefs.available',
) {
  const hard = { 'nodefs.available': '10%', 'nodefs.inodesFree': '10%', 'memory.available': '10%' };
  const thresholds = thresholdsOf(
    { hard, soft: {}, softGracePeriod: {}, minimumReclaim: {} },
    { areHeldToAllocatable: false },
  );
  const look = (available: number | undefined, atMs: number): Observations =>
    new Map(
      available === undefined
        ? []
        : [[signal, { available: BigInt(Math.round(available)), capacity: BigInt(capacity), atMs }]],
    );
  const looks = { before: look(before, 0), now: look(now, 1000) };
  assert.equal(Math.round(nextLookMs(thresholds, looks, PERIOD_MS)), expected);
}

test('a disk that cannot reach its threshold within a period is checked once per period', () => {
  check(100 * GIB, [undefined, 50 * GIB], PERIOD_MS);
  check(100 * GIB, [50 * GIB, 50 * GIB], PERIOD_MS);
  check(100 * GIB, [20 * GIB, 50 * GIB], PERIOD_MS);
  check(100 * GIB, [50 * GIB, 49 * GIB], PERIOD_MS);
});

test('a disk that fills fast is checked after half of the estimated time to the threshold, at most ten times a second', () => {
  check(100 * GIB, [50 * GIB, 46 * GIB], 4500);
  check(100 * GIB, [20 * GIB, 16 * GIB], 750);
  check(100 * GIB, [15 * GIB, 10.01 * GIB], 100);
  check(100 * GIB, [10 * GIB, 9 * GIB], 100);
});

test('a disk with little free space is checked sooner, as a fast writer may start at any time', () => {
  check(10 * GIB, [1.5 * GIB, 1.5 * GIB], 5120);
  check(1000 * 1000, [500_000, 500_000], PERIOD_MS, 'nodefs.inodesFree');
  check(100 * 1000, [30_000, 30_000], 1000, 'nodefs.inodesFree');
});

test('memory and file systems without inode counts are ignored', () => {
  check(0, [0, 0], PERIOD_MS, 'nodefs.inodesFree');
  check(GIB, [GIB, 0.11 * GIB], PERIOD_MS, 'memory.available');
});
