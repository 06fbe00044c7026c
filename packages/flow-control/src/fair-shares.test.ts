import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../base/src/fuzz.fixture.ts';
import { fairShares } from './fair-shares.ts';

test('a sum is divided in proportion to the targets, within the bounds', () => {
  const check = (sum: number, items: [min: number, target: number, max: number][], expected: number[] | undefined) => {
    const given = items.map(([min, target, max]) => ({ min, target, max }));
    const shares = fairShares(sum, given)?.shares.map((share) => Math.round(share * 1000) / 1000);
    assert.deepEqual(shares, expected, JSON.stringify([sum, items]));
  };
  check(0, [], undefined);
  check(10, [[0, 5, 100]], [10]);
  check(10, [[0, 1, 100], [0, 4, 100]], [2, 8]); // biome-ignore format: a table
  check(10, [[0, 1, 100], [0, 4, 7]], [3, 7]); // biome-ignore format: a table
  check(10, [[0, 1, 1], [0, 4, 7], [0, 0, 100]], [1, 7, 2]); // biome-ignore format: a table
  check(10, [[5, 5, 100], [0, 20, 100]], [5, 5]); // biome-ignore format: a table
  check(10, [[0, 0, 100], [0, 0, 100]], [5, 5]); // biome-ignore format: a table
  check(10, [[4, 4, 9], [6, 6, 9]], [4, 6]); // biome-ignore format: a table
  check(18, [[4, 4, 9], [6, 6, 9]], [9, 9]); // biome-ignore format: a table
  check(9, [[4, 4, 9], [6, 6, 9]], undefined); // biome-ignore format: a table
  check(19, [[4, 4, 9], [6, 6, 9]], undefined); // biome-ignore format: a table
  check(10, [[4, 3, 9]], undefined);
});

test('the shares of random items have the sum and are fair', () => {
  const seed = Number(process.env.TEST_SEED ?? 1);
  const random = seededRandom(seed);
  for (let round = 0; round < 500; round++) {
    const items = Array.from({ length: 1 + (round % 7) }, () => {
      const min = random(20);
      return { min, target: min + random(30), max: min + random(40) };
    });
    const sumOf = (field: 'min' | 'max') => items.reduce((sum, item) => sum + item[field], 0);
    const sum = sumOf('min') + random(sumOf('max') - sumOf('min') + 1);
    const { shares, fraction } = fairShares(sum, items)!;
    assert.ok(Math.abs(shares.reduce((total, share) => total + share, 0) - sum) < 1e-6);
    for (const [index, { min, target, max }] of items.entries()) {
      const wanted = Math.min(max, Math.max(min, fraction * Math.max(target, 0.001)));
      assert.ok(Math.abs(shares[index]! - wanted) < 1e-9, JSON.stringify({ seed, items, sum }));
    }
  }
});
