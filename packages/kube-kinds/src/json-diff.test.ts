import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonDiff } from './json-diff.ts';

test('a diff has the differing lines with three lines of context', () => {
  assert.equal(jsonDiff({ a: 1 }, { a: 1 }), '');
  assert.equal(jsonDiff({ a: 1, b: 2 }, { a: 1, b: 3 }), '@@ -1,4 +1,4 @@\n {\n  "a": 1,\n- "b": 2\n+ "b": 3\n }\n');
  assert.equal(
    jsonDiff([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6, 7]),
    '@@ -4,5 +4,6 @@\n  3,\n  4,\n  5,\n- 6\n+ 6,\n+ 7\n ]\n',
  );
  assert.equal(jsonDiff(undefined, {}), '@@ -1 +1 @@\n-null\n+{}\n');
});

test('a long diff is truncated', () => {
  const lines = jsonDiff(
    [],
    Array.from({ length: 1000 }, (_, index) => index),
  ).split('\n');
  assert.deepEqual([lines.length, lines.at(-2)], [103, '…']);
});
