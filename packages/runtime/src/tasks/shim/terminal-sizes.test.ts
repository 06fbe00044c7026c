import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { oneSizeAtATime } from './terminal-sizes.ts';

test('sizes are set one at a time, and the last one always is, even after a failure', async () => {
  const calls: { size: string; done: PromiseWithResolvers<void> }[] = [];
  const resize = oneSizeAtATime((columns, rows) => {
    const done = Promise.withResolvers<void>();
    calls.push({ size: `${columns}x${rows}`, done });
    return done.promise;
  });
  const sizes = () => calls.map(({ size }) => size);
  for (const columns of [80, 90, 100]) resize(columns, 25);
  assert.deepEqual(sizes(), ['80x25']);
  calls[0]!.done.reject(new Error('gone'));
  await setImmediate();
  assert.deepEqual(sizes(), ['80x25', '100x25']);
  calls[1]!.done.resolve();
  await setImmediate();
  resize(70, 20);
  assert.deepEqual(sizes(), ['80x25', '100x25', '70x20']);
});
