import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editDistance, suggest } from './suggest.ts';

test('the distance counts insertions, deletions, replacements and swaps', () => {
  const table: [string, string, number][] = [
    ['', 'abc', 3],
    ['abc', 'abc', 0],
    ['kitten', 'sitting', 3],
    ['iamge', 'image', 1],
  ];
  for (const [a, b, expected] of table) assert.equal(editDistance(a, b), expected, `${a} ${b}`);
});

test('only similar words are suggested', () => {
  const fields = ['image', 'imagePullPolicy', 'volumeMounts', 'env'];
  assert.equal(suggest('volumemounts', fields), 'volumeMounts');
  assert.equal(suggest('iamge', fields), 'image');
  assert.equal(suggest('foo', fields), undefined);
  assert.equal(suggest('x'.repeat(1000), fields), undefined);
});
