import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UsageSample } from '../api/dashboard.ts';
import { seriesOf, withSamples } from './usage-series.ts';

const sample = (seconds: number, receivedBytes = 0): UsageSample => ({
  time: seconds * 1000,
  cpuNanoCores: 5e8,
  memoryWorkingSetBytes: 7,
  rootfs: { usedBytes: 1, capacityBytes: 2, inodesUsed: 0, inodes: 0 },
  images: { usedBytes: 3, capacityBytes: 4 },
  network: { receivedBytes, sentBytes: 0 },
  pods: 1,
});

test('samples are kept for an hour, without duplicates', () => {
  const first = withSamples([], [sample(0), sample(10)]);
  assert.equal(withSamples(first, [sample(10)]), first);
  assert.deepEqual(
    withSamples(first, [sample(10), sample(20)]).map(({ time }) => time),
    [0, 10_000, 20_000],
  );
  assert.deepEqual(
    withSamples(first, [sample(3605)]).map(({ time }) => time),
    [10_000, 3_605_000],
  );
});

test('rates are computed from counters, except after gaps and counter resets', () => {
  const { times, cpuCores, receivedRate } = seriesOf(
    [sample(0, 100), sample(10, 300), sample(20, 50), sample(100, 90), sample(110, 90)],
    10_000,
  );
  assert.deepEqual(times, [0, 10, 20, 30, 100, 110]);
  assert.deepEqual(receivedRate, [null, 20, null, null, null, 0]);
  assert.deepEqual(cpuCores, [0.5, 0.5, 0.5, null, 0.5, 0.5]);
});
