import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remainingMs } from './remaining-time.ts';

test('a delay ends on time, or at once if the clock is set back', () => {
  const check = (sinceMs: number, expected: number) => assert.equal(remainingMs(sinceMs, 5000, 1_000_000), expected);
  check(1_000_000, 5000);
  check(997_000, 2000);
  check(0, 0);
  check(1_030_000, 35_000); // another machine's clock may be ahead
  check(1_000_000 + 36_000_000, 0);
});
