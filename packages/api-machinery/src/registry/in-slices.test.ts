import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inSlices } from './in-slices.ts';

function work(ms: number): void {
  for (const endMs = performance.now() + ms; performance.now() < endMs; );
}

test('long work yields between its slices', async () => {
  let turns = 0;
  const turn = async () => {
    turns += 1;
  };
  const doubled = (value: number) => {
    work(3);
    return value === 2 ? [] : [value * 2];
  };
  assert.deepEqual(await inSlices([1, 2, 3], doubled, { turn }), [2, 6]);
  assert.equal(turns, 2);
  assert.deepEqual(await inSlices([1, 2, 3], (value) => [value], { turn }), [1, 2, 3]);
  assert.equal(turns, 2);
});

test('work stops once it has enough results', async () => {
  const seen: number[] = [];
  const results = await inSlices([1, 2, 3, 4], (value) => [seen.push(value)], { limit: 2 });
  assert.deepEqual(
    [results, seen],
    [
      [1, 2, 3],
      [1, 2, 3],
    ],
  );
});
