import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { LargeBodies } from './large-bodies.ts';

const MIB = 1 << 20;

function work(ms: number): void {
  for (const endMs = performance.now() + ms; performance.now() < endMs; );
}

test('other work is done between large bodies, and small ones do not wait', async () => {
  const bodies = new LargeBodies();
  const order: string[] = [];
  const large = [1, 2, 3].map(async (index) => {
    await bodies.turn(MIB);
    work(20);
    order.push(`large ${index}`);
  });
  const other = (async () => {
    while (!order.includes('large 2')) await setImmediate();
    await bodies.turn(100);
    order.push('small');
  })();
  await Promise.all([...large, other]);
  assert.deepEqual(order, ['large 1', 'large 2', 'small', 'large 3']);
});

test('bodies of more than 64 MiB do not wait at once', async () => {
  const bodies = new LargeBodies();
  const turns = Array.from({ length: 30 }, () =>
    bodies.turn(3 * MIB).then(
      () => 'served',
      ({ status }) => status.code,
    ),
  );
  const results = await Promise.all(turns);
  assert.deepEqual([results.filter((one) => one === 'served').length, results.at(-1)], [21, 429]);
  await bodies.turn(3 * MIB);
});
