import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactJson, parseExactly, withNumbers } from './exact-json.ts';

test('integers beyond exact numbers become a BigInt, and are preserved', () => {
  const text =
    '{"a":9007199254740993,"b":[-9223372036854775808,9007199254740991,1],"c":1234567890123456.5,"d":null,"e":12345678901234567e3}';
  const value = parseExactly(text) as Record<string, unknown>;
  assert.equal(value.a, 9007199254740993n);
  assert.deepEqual(value.b, [-9223372036854775808n, 9007199254740991, 1]);
  assert.deepEqual([value.c, value.d, value.e], [1234567890123456.5, null, 12345678901234567e3]);
  assert.match(exactJson(value), /^\{"a":9007199254740993,"b":\[-9223372036854775808,9007199254740991,1\],/);
});

test('digits in strings are not integers', () => {
  const value = { a: 'x 99999999999999999999 "\\', '99999999999999999999': ':99999999999999999999' };
  assert.deepEqual(parseExactly(JSON.stringify(value)), value);
  assert.equal(exactJson(value), JSON.stringify(value));
});

test('values without a BigInt have the usual JSON', () => {
  const value = { a: [1, null, undefined, 'é\n'], b: { c: true, d: undefined }, e: 1e21, f: {}, g: [] };
  assert.equal(exactJson(value), JSON.stringify(value));
});

test('a BigInt that is exact as a number becomes a number', () => {
  assert.deepEqual(withNumbers({ a: [1n, 2n ** 60n], b: 'x', c: null }), { a: [1, 2n ** 60n], b: 'x', c: null });
});
