import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowWindow } from './window-of-rows.ts';

test('the visible rows and some around them are rendered, and blank space replaces the others', () => {
  const check = (topPx: number, expected: [number, number], count = 1000) => {
    const { first, last, beforePx, afterPx } = rowWindow({ count, rowPx: 20, topPx, heightPx: 200 });
    assert.deepEqual([first, last], expected);
    assert.equal(beforePx + (last - first) * 20 + afterPx, count * 20);
  };
  check(0, [0, 18]);
  check(2000, [92, 118]);
  check(19_800, [982, 1000]);
  check(-5000, [0, 0]);
  check(99_999, [992, 1000]);
  check(0, [0, 3], 3);
  check(0, [0, 0], 0);
});
