import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CpuSamples } from './cpu-samples.ts';

test('CPU usage is reported from the second sample, over intervals of at least 100 ms', () => {
  const samples = new CpuSamples();
  const check = (readAtMs: number, usageNanoseconds: number, expected: number | undefined) => {
    const cpu = { usageNanoseconds } as never;
    assert.equal(samples.nanoCores('a', { readAtMs, cpu }), expected, `${readAtMs}`);
  };
  check(1000, 5_000_000, undefined);
  check(1050, 9_000_000, undefined);
  check(2000, 505_000_000, 500_000_000);
  check(2050, 900_000_000, 500_000_000);
  check(3000, 0, 0);
  check(3000 + 600_001, 1, 0);
  assert.equal(samples.nanoCores('b', { readAtMs: 1 }), undefined);
});
