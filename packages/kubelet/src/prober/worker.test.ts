import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initialDelayMs } from './worker.ts';

test('the initial delay is counted from the start of the container, and no clock that is set back lengthens it', () => {
  const startedAtMs = 10_000_000;
  const left = (afterMs: number) => initialDelayMs(startedAtMs, 30, startedAtMs + afterMs);
  assert.deepEqual(
    [left(0), left(10_000), left(40_000), left(3_600_000), left(-3_600_000)],
    [30_000, 20_000, 0, 0, 30_000],
  );
});
