import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint } from '../services/endpoints.ts';
import { arrangeEndpoints } from './arrange.ts';

const endpoint = (port: number): Endpoint => ({
  ...{ address: 'x', port, isReady: true, isServing: true, isTerminating: false, isLocal: true, zones: [], nodes: [] },
});
const arrange = (before: number[], now: number[]) =>
  arrangeEndpoints(
    before.map((port) => `x ${port}`),
    now.map(endpoint),
  ).map(({ port }) => port);

test('endpoints keep their numbers, and new and trailing endpoints fill the gaps', () => {
  const check = (before: number[], now: number[], expected: number[]) =>
    assert.deepEqual(arrange(before, now), expected);
  check([], [1, 2, 3], [1, 2, 3]);
  check([1, 2, 3], [3, 2, 1], [1, 2, 3]);
  check([1, 2, 3], [2, 3], [3, 2]);
  check([1, 2, 3], [1, 2], [1, 2]);
  check([1, 2, 3], [4, 3, 2], [4, 2, 3]);
  check([1, 2, 3], [5, 4, 3, 2], [5, 2, 3, 4]);
  check([1, 2, 3, 4], [4], [4]);
  check([1, 2, 3, 4], [2], [2]);
  check([1, 2], [], []);
});

test('for all small changes, the resulting endpoint order changes the fewest numbers', () => {
  const subsets = Array.from({ length: 32 }, (_, bits) => [1, 2, 3, 4, 5].filter((port) => bits & (1 << (port - 1))));
  for (const before of subsets)
    for (const now of subsets) {
      const order = arrange(before, now);
      assert.deepEqual([...order].sort(), now);
      const kept = before.filter((port, index) => index < now.length && now.includes(port));
      assert.ok(
        kept.every((port) => order.indexOf(port) === before.indexOf(port)),
        `${before} to ${now}: ${order}`,
      );
    }
});
