import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGoDuration } from './go-duration.ts';
import { formatDuration } from './time.ts';

test('durations are parsed as in Go', () => {
  for (const [text, expected] of [
    ['0', 0],
    ['300ms', 300],
    ['1.5s', 1500],
    ['.5s', 500],
    ['1h30m', 5_400_000],
    ['-10s', -10_000],
    ['+1m', 60_000],
    ['250us', 0.25],
    ['1m0.5s', 60_500],
  ] as const)
    assert.equal(parseGoDuration(text), expected, text);
  for (const text of ['', '3', '1d', 's', '.s', '1 s', '1h-3m', '1e3s', '--1s', '300000000000h', '1h'.repeat(100)])
    assert.equal(parseGoDuration(text), undefined, text);
});

test('durations are formatted as in Go', () => {
  for (const [ms, text] of [
    [0, '0s'],
    [0.25, '250µs'],
    [100, '100ms'],
    [1500, '1.5s'],
    [60_000, '1m0s'],
    [3_600_000, '1h0m0s'],
    [-5_405_000, '-1h30m5s'],
  ] as const)
    assert.equal(formatDuration(ms), text);
});

test('API request durations are parsed like in Go', () => {
  const check = (text: string, expected: number | undefined) => assert.equal(parseGoDuration(text), expected, text);
  check('1m30s', 90_000);
  check('1.5h', 5_400_000);
  check('.5s', 500);
  check('1.s', 1000);
  check('10ms', 10);
  check('2us', 0.002);
  check('0', 0);
  check('-1s', -1000);
  check('+1s', 1000);
  for (const text of ['', '1', 's', '1x', '1s ', '1 s', '1,5s', '--1s', '1d', `${'1'.repeat(200)}s`])
    check(text, undefined);
});
