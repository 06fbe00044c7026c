import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { everyCall } from './calls.ts';

const ITEMS = Array.from({ length: 500 }, (_, index) => index);

test('other events run between calls that finish immediately', async () => {
  let made = 0;
  const done = everyCall(ITEMS, async () => void made++);
  await setImmediate();
  assert.ok(made < ITEMS.length);
  await done;
  assert.equal(made, ITEMS.length);
});

test('all calls are made even if one fails early, and the first error is thrown', async () => {
  let made = 0;
  const call = async (item: number) => {
    made++;
    if (item % 100 === 3) throw new Error(`${item} failed`);
  };
  await assert.rejects(everyCall(ITEMS, call), { message: '3 failed' });
  assert.equal(made, ITEMS.length);
});
