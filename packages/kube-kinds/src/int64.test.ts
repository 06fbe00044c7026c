import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextInt64, parseInt64 } from './int64.ts';

const MAX = '9223372036854775807';

test('text is parsed like strconv.ParseInt', () => {
  const invalid = ['', '-', '1.0', '0x1', '1e3', ' 1', '1_000', '١'];
  for (const text of invalid)
    assert.equal(parseInt64(text), `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  for (const text of ['9223372036854775808', '-9223372036854775809', '9'.repeat(100_000)])
    assert.equal(parseInt64(text), `strconv.ParseInt: parsing "${text}": value out of range`);
  const read = ['0', '-0', '+7', '-7', '007', `${'0'.repeat(100)}${MAX}`, '-9223372036854775808'].map(parseInt64);
  assert.deepEqual(read, [0n, 0n, 7n, -7n, 7n, BigInt(MAX), -(2n ** 63n)]);
});

test('the maximum int64 wraps around to the minimum', () => {
  assert.deepEqual([nextInt64(-1n), nextInt64(BigInt(MAX))], [0n, -(2n ** 63n)]);
});
