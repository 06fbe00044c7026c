import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nanoseconds } from './engine-times.ts';

test('Engine times keep their nanoseconds, and the zero time is 0', () => {
  const check = (text: string, expected: bigint) => assert.equal(nanoseconds(text), expected, text);
  check('1970-01-01T00:00:01Z', 1_000_000_000n);
  check('1970-01-01T00:00:01.5Z', 1_500_000_000n);
  check('1970-01-01T00:00:01.000000001Z', 1_000_000_001n);
  check('1970-01-01T01:00:01.1+01:00', 1_100_000_000n);
  for (const none of ['', '0001-01-01T00:00:00Z', 'yesterday']) check(none, 0n);
});
