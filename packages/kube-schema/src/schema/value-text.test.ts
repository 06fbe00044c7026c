import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from './value-text.ts';

describe('durations', () => {
  it('are written and read as in Go', () => {
    const cases: [bigint, string][] = [
      [0n, '0s'],
      [1n, '1ns'],
      [1500n, '1.5µs'],
      [250_000_000n, '250ms'],
      [1_500_000_000n, '1.5s'],
      [80_000_000_000n, '1m20s'],
      [3_600_000_000_000n, '1h0m0s'],
      [-5_400_000_000_000n, '-1h30m0s'],
      [2n ** 63n - 1n, '2562047h47m16.854775807s'],
    ];
    for (const [nanos, text] of cases) assert.deepEqual([formatDuration(nanos), parseDuration(text)], [text, nanos]);
    assert.deepEqual(['1.5h', '.5s', '+1m', '-0'].map(parseDuration), [
      5_400_000_000_000n,
      500_000_000n,
      60_000_000_000n,
      0n,
    ]);
    assert.deepEqual(['', '1', 's', '1x', '9999999h'].map(parseDuration), [
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('times', () => {
  it('are written in UTC, and null for the zero time', () => {
    assert.equal(formatTimestamp({ seconds: 1_767_323_045n, nanos: 7000 }, 0), '2026-01-02T03:04:05Z');
    assert.equal(formatTimestamp({ seconds: 1_767_323_045n, nanos: 7000 }, 6), '2026-01-02T03:04:05.000007Z');
    assert.equal(formatTimestamp({ seconds: -62_135_596_800n, nanos: 0 }, 0), null);
    assert.equal(formatTimestamp({ seconds: 2n ** 62n, nanos: 0 }, 0), undefined);
  });

  it('are read with any offset and fraction', () => {
    const expected = { seconds: 1_767_323_045n, nanos: 0 };
    assert.deepEqual(parseTimestamp('2026-01-02T03:04:05Z'), expected);
    assert.deepEqual(parseTimestamp('2026-01-02T05:04:05+02:00'), expected);
    assert.deepEqual(parseTimestamp('2026-01-02T03:04:05.5Z'), { ...expected, nanos: 500_000_000 });
    for (const text of ['2026-01-02', '2026-13-02T03:04:05Z', 'now', '2026-01-02T03:04:05'])
      assert.equal(parseTimestamp(text), undefined, text);
  });
});
