import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogGrowth, type LogVerdict } from './log-growth.ts';

const MAX = 10 << 20;
const FAST = 50_000; // bytes per millisecond: 50 MB/s

function sizeAtRotation(growth: LogGrowth, { bytesAMs, everyMs, fromMs = 0 }: Record<string, number>): number {
  for (let ms = 0; ; ms += everyMs!) {
    const size = Math.min(ms * bytesAMs!, 2 * MAX);
    if (growth.judge(size, fromMs + ms).kind === 'rotate') return size;
  }
}

test('a slowly growing log is rotated at its limit', () => {
  const size = sizeAtRotation(new LogGrowth(MAX), { bytesAMs: 10, everyMs: 100 });
  assert.ok(size >= MAX - 1000 && size <= MAX + 1000, String(size));
});

test('a fast-growing log is rotated early, by its expected growth until the new file is open', () => {
  const size = sizeAtRotation(new LogGrowth(MAX), { bytesAMs: FAST, everyMs: 2 });
  assert.ok(size > MAX - 23 * FAST && size <= MAX - 19 * FAST, String(size));
});

test('a slow rotation affects the timing of the next ones, with decreasing weight', () => {
  const growth = new LogGrowth(MAX);
  const sizes = [50, 5, 5, 5, 5, 5].map((reopenMs, round) => {
    const fromMs = round * 1000;
    const size = sizeAtRotation(growth, { bytesAMs: FAST, everyMs: 2, fromMs });
    growth.rotated(fromMs + Math.ceil(size / FAST) + reopenMs);
    return size;
  });
  const [first, second, ...after] = sizes as [number, number, ...number[]];
  assert.ok(second > MAX - 53 * FAST && second <= MAX - 49 * FAST, String(second));
  assert.deepEqual(
    after,
    after.toSorted((a, b) => a - b),
  );
  assert.ok(after[0]! > second && after.at(-1)! > first - 4 * FAST, String(sizes));
});

test('late checks are taken into account', () => {
  const growth = new LogGrowth(MAX);
  growth.due(10);
  growth.judge(0, 50);
  const size = sizeAtRotation(growth, { bytesAMs: FAST, everyMs: 2, fromMs: 52 });
  assert.ok(size > MAX - 43 * FAST && size <= MAX - 39 * FAST, String(size));
});

test('no log is rotated below 70 % of its limit', () => {
  const growth = new LogGrowth(MAX);
  growth.due(0);
  growth.judge(0, 60_000);
  const size = sizeAtRotation(growth, { bytesAMs: FAST, everyMs: 2, fromMs: 60_002 });
  assert.ok(size >= 0.7 * MAX && size < 0.72 * MAX, String(size));
});

test('an empty log is never rotated, and a log at its limit is rotated at the first check', () => {
  const again = (afterMs: number): LogVerdict => ({ kind: 'check-again', afterMs });
  assert.deepEqual(new LogGrowth(0).judge(0, 0), again(2));
  assert.deepEqual(new LogGrowth(MAX).judge(MAX, 0), { kind: 'rotate' });
  assert.deepEqual(new LogGrowth(MAX).judge(0, 0), again(MAX / 200_000));
  assert.deepEqual(new LogGrowth(1 << 30).judge(0, 0), again(1000));
});
