import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeatDemand } from './seat-demand.ts';

test('the demand of a period is summarized, and smoothed over several', () => {
  let nowMs = 0;
  const demand = new SeatDemand(() => nowMs);
  const rounded = () =>
    Object.values(demand.summarize()).map((value: number) => Math.round(value * 1000) / 1000) as number[];
  assert.deepEqual(rounded(), [0, 0, 0, 0]);
  demand.add(4);
  nowMs += 5000;
  demand.add(-4);
  nowMs += 5000;
  assert.deepEqual(rounded(), [4, 2, 2, 4]); // highest, average, deviation, smoothed
  nowMs += 10_000;
  assert.deepEqual(rounded(), [0, 0, 0, 3.908]);
  demand.add(10);
  assert.deepEqual(rounded(), [10, 0, 0, 3.908], 'a period without duration changes only the highest demand');
  nowMs += 10_000;
  assert.deepEqual(rounded(), [10, 10, 0, 10]);
});
