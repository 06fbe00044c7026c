import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration } from './time.ts';

test('durations are formatted as in the kubelet', () => {
  const table: [number, string][] = [
    [0, '0s'],
    [250, '250ms'],
    [1500, '1.5s'],
    [10_000, '10s'],
    [80_000, '1m20s'],
    [300_000, '5m0s'],
    [3_600_000, '1h0m0s'],
  ];
  for (const [ms, expected] of table) assert.equal(formatDuration(ms), expected);
});
