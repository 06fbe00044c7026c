import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiStatusError } from '@podwright/kube-client';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';

/** A queue whose syncs end only when the test ends them. `started` lists the keys in the order in which their syncs started. */
function open(options: Partial<WorkQueueOptions> = {}) {
  const started: string[] = [];
  const pending: PromiseWithResolvers<void>[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const warnings: unknown[] = [];
  const abort = new AbortController();
  const queue = new WorkQueue({
    sync: (key) => {
      started.push(key);
      pending.push(Promise.withResolvers<void>());
      for (const { count, resolve } of waiting) if (started.length >= count) resolve();
      return pending.at(-1)!.promise;
    },
    failure: 'failed to sync',
    logger: { warn: (fields) => warnings.push(fields) },
    signal: abort.signal,
    ...options,
  });
  const untilStarted = (count: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ count, resolve });
    if (started.length >= count) resolve();
    return promise;
  };
  return { queue, started, pending, warnings, untilStarted, abort };
}

test('a key added twice is handled once', async () => {
  const { queue, started, untilStarted } = open();
  queue.add('a');
  queue.add('b');
  queue.add('a');
  await untilStarted(2);
  assert.deepEqual(started, ['a', 'b']);
});

test('a key added while being handled is handled again afterwards, not concurrently', async () => {
  const { queue, started, pending, untilStarted } = open();
  queue.add('a');
  await untilStarted(1);
  queue.add('a');
  queue.add('b');
  await untilStarted(2);
  assert.deepEqual(started, ['a', 'b']);
  pending[0]!.resolve();
  await untilStarted(3);
  assert.deepEqual(started, ['a', 'b', 'a']);
});

test('as many keys are handled concurrently as there are workers', async () => {
  const { queue, started, pending, untilStarted } = open({ workers: 2 });
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await untilStarted(2);
  assert.deepEqual(started, ['a', 'b']);
  pending[1]!.resolve();
  await untilStarted(3);
});

test('a failed key is retried, and conflicts are not logged', async () => {
  const { queue, pending, warnings, untilStarted } = open();
  queue.add('a');
  await untilStarted(1);
  pending[0]!.reject(new ApiStatusError('update', { code: 409, reason: 'Conflict', message: 'conflict' }));
  await untilStarted(2);
  assert.equal(warnings.length, 0);
  pending[1]!.reject(new Error('no'));
  await untilStarted(3);
  assert.deepEqual(warnings, [{ key: 'a', error: 'no' }]);
});

test('the first delay can be longer after a failure, but not after a conflict', async () => {
  const { queue, pending, started, untilStarted, abort } = open({ firstRetryMs: 3_600_000, maxRetryMs: 3_600_000 });
  queue.add('a');
  queue.add('b');
  await untilStarted(2);
  pending[0]!.reject(new Error('no'));
  pending[1]!.reject(new ApiStatusError('update', { code: 409, reason: 'Conflict', message: 'conflict' }));
  await untilStarted(3);
  assert.deepEqual(started, ['a', 'b', 'b']);
  abort.abort();
});

test('if a key has several delays, the first to end applies', async () => {
  const { queue, started, untilStarted } = open();
  queue.addAfter('a', 3_600_000);
  queue.addAfter('a', 5);
  queue.addAfter('a', 3_600_000);
  await untilStarted(1);
  assert.deepEqual(started, ['a']);
});

test('after its signal aborts, the queue ends with its last sync', async () => {
  const { queue, pending, started, untilStarted, abort } = open();
  queue.add('a');
  await untilStarted(1);
  queue.addAfter('b', 1);
  abort.abort();
  queue.add('c');
  let hasEnded = false;
  const ended = queue.ended.then(() => {
    hasEnded = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(hasEnded, false);
  pending[0]!.resolve();
  await ended;
  assert.deepEqual(started, ['a']);
});

test('timers still run if each sync of a key adds it again', async () => {
  let syncs = 0;
  const { queue, abort } = open({
    sync: async (key) => {
      if (++syncs < 100_000) queue.add(key);
    },
  });
  setTimeout(() => abort.abort(), 1);
  queue.add('a');
  await queue.ended;
  assert.ok(syncs < 100_000);
});

test('a long delay ends if the clock is set, because it was computed from the old time', async (t) => {
  let offsetMs = 0;
  const { queue, untilStarted, started, abort } = open({ clockOffsetMs: () => offsetMs });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  queue.addAfter('a', 86_400_000);
  t.mock.timers.tick(60_000);
  assert.deepEqual(started, []);
  offsetMs = -3_600_000;
  t.mock.timers.tick(60_000);
  await untilStarted(1);
  assert.deepEqual(started, ['a']);
  abort.abort();
});
