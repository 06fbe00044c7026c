import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IndexSet } from './index-set.ts';

const check = (text: string, expected: string, completions = 100) =>
  assert.equal(IndexSet.parse(text, completions).toString(), expected);

test('the string form uses intervals for three or more indexes', () => {
  for (const text of ['', '0', '0,1', '0-2', '1,3-5,7,9,10']) check(text, text);
  check('0-1', '0,1');
  check('3,4,5', '3-5');
});

test('indexes beyond the completions and malformed intervals are ignored', () => {
  check('0-9,12,14-20', '0-9,12', 13);
  check('0-9', '0-2', 3);
  check('x,2,4-y,-3,5-', '2');
});

test('sets are merged, compared and searched by interval', () => {
  const set = IndexSet.parse('1-3,7', 100);
  assert.equal(set.union(IndexSet.of([9, 0, 4])).toString(), '0-4,7,9');
  assert.equal(set.union(IndexSet.empty).toString(), '1-3,7');
  assert.equal(set.size, 4);
  assert.deepEqual(
    [0, 1, 3, 4, 7, 8].filter((index) => set.has(index)),
    [1, 3, 7],
  );
  assert.equal(set.overlap(IndexSet.parse('0-1,3-8', 100)), 3);
  assert.equal(set.overlap(IndexSet.empty), 0);
});

test('the first missing indexes stay below the completions', () => {
  const set = IndexSet.parse('1-3,7', 100);
  assert.deepEqual(set.firstMissing(3, 100), [0, 4, 5]);
  assert.deepEqual(set.firstMissing(10, 9), [0, 4, 5, 6, 8]);
  assert.deepEqual(set.firstMissing(10, 2), [0]);
  assert.deepEqual(set.firstMissing(0, 10), []);
});
