import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedLock } from './shared-lock.ts';

const { signal } = new AbortController();

test('shared work runs concurrently; exclusive work waits for it, and blocks later work', async () => {
  const lock = new SharedLock();
  const order: string[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const work = (name: string, index: number) => async () => {
    order.push(`${name} begins`);
    await gates[index]!.promise;
    order.push(`${name} ends`);
  };
  const all = [
    lock.shared(work('first', 0), signal),
    lock.shared(work('second', 1), signal),
    lock.alone(work('alone', 2), signal),
    lock.shared(work('later', 0), signal),
  ];
  for (const gate of gates) {
    await new Promise(setImmediate);
    gate.resolve();
  }
  await Promise.all(all);
  assert.deepEqual(order, [
    ...['first begins', 'second begins', 'first ends', 'second ends'],
    ...['alone begins', 'alone ends', 'later begins', 'later ends'],
  ]);
});

test('an aborted waiter returns immediately, and later callers still wait for earlier ones', async () => {
  const lock = new SharedLock();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let running = true;
  const first = lock.shared(async () => {
    await held;
    running = false;
  }, signal);
  const leaving = new AbortController();
  const alone = lock.alone(() => assert.fail('it was aborted'), leaving.signal);
  const shared = lock.shared(() => assert.fail('it was aborted'), leaving.signal);
  const last = lock.alone(async () => assert.ok(!running), signal);
  leaving.abort(new Error('left'));
  await assert.rejects(alone, /left/);
  await assert.rejects(shared, /left/);
  release();
  await Promise.all([first, last]);
});
