import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { SliceTurns } from './slice-turns.ts';

test('one slice runs in each iteration of the event loop, and callers take turns', async () => {
  const turns = new SliceTurns();
  const order: string[] = [];
  const compute = async (caller: string, slices: number) => {
    for (let slice = 1; slice <= slices; slice++) {
      await turns.next(caller);
      order.push(`${caller}${slice}`);
    }
  };
  const all = Promise.all([compute('a', 2), compute('a', 2), compute('b', 2)]);
  let before = 0;
  while (order.length < 6) {
    await setImmediate();
    assert.ok(order.length <= before + 1, order.join());
    before = order.length;
  }
  await all;
  assert.deepEqual(order, ['a1', 'b1', 'a1', 'b2', 'a2', 'a2']);
  await turns.next('a');
});
