import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstDifference } from './first-difference.ts';

test('returns the path of the first difference between two values', () => {
  const check = (one: unknown, other: unknown, path: string | undefined) =>
    assert.equal(firstDifference(one, other), path, JSON.stringify([one, other]));
  check({ a: 1, b: [{ c: 2 }] }, { b: [{ c: 2 }], a: 1 }, undefined);
  check({ a: 1, b: undefined }, { a: 1 }, undefined);
  check({ a: { b: 1 } }, { a: { b: '1' } }, 'a.b');
  check([1, 2], [1], '1');
  check({ a: [] }, { a: {} }, 'a');
  check({ a: null }, { a: {} }, 'a');
  check({ a: { x: 1 } }, {}, 'a');
  check(1, 2, '');
});
