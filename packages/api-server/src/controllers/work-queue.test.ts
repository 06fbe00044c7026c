import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@podwright/api-machinery';
import { waitFor } from '@podwright/base';
import type { Location } from './location.ts';
import { WorkQueue } from './work-queue.ts';

const at = (name: string): Location => ({ resource: 'pods', namespace: 'x', name });

/**
 * Returns a queue that runs until the end of the test, the names of the objects that it has handled, and the warnings that it has logged.
 */
function started(handle: (name: string, tries: number) => Promise<void>) {
  const handled: string[] = [];
  const warnings: string[] = [];
  const abort = new AbortController();
  const queue = new WorkQueue({
    handle: async ({ name }) => {
      handled.push(name);
      await handle(name, handled.filter((one) => one === name).length);
    },
    failure: 'handle a pod failed',
    logger: { warn: (_: object, message: string) => void warnings.push(message) } as never,
    signal: abort.signal,
  });
  const run = queue.run();
  const until = (check: () => boolean) =>
    waitFor(() => check() || undefined, { intervalMs: 1, signal: AbortSignal.timeout(10_000) });
  const stop = async () => {
    abort.abort();
    await run;
  };
  return { queue, handled, warnings, until, stop };
}

test('an object added several times is handled once, and again after a later change', async () => {
  const { queue, handled, until, stop } = started(async () => undefined);
  for (const name of ['a', 'b', 'a', 'a']) queue.add(at(name));
  await until(() => handled.length === 2);
  queue.add(at('a'));
  await until(() => handled.length === 3);
  assert.deepEqual(handled, ['a', 'b', 'a']);
  await stop();
});

test('a conflicting write is retried at once, without a warning', async () => {
  const conflict = new ApiError(409, 'Conflict', { message: 'modified' });
  const { queue, handled, warnings, until, stop } = started(async (_, tries) => {
    if (tries < 4) throw conflict;
  });
  queue.add(at('a'));
  await until(() => handled.length === 4);
  assert.deepEqual(warnings, []);
  await stop();
});

test('a failing object is logged and retried later, without delaying others', async () => {
  const { queue, handled, warnings, until, stop } = started(async (name, tries) => {
    if (name === 'bad' && tries === 1) throw new Error('no');
  });
  queue.add(at('bad'));
  queue.add(at('good'));
  await until(() => handled.length === 2);
  assert.deepEqual([handled, warnings], [['bad', 'good'], ['handle a pod failed, trying again']]);
  await until(() => handled.length === 3);
  assert.equal(handled[2], 'bad');
  await stop();
});

test('the retry delay doubles until the object is handled', async () => {
  const atMs: number[] = [];
  const { queue, handled, until, stop } = started(async (_, tries) => {
    atMs.push(performance.now());
    if (tries < 6) throw new Error('no');
  });
  queue.add(at('a'));
  await until(() => handled.length === 6);
  const delays = atMs.slice(1).map((ms, index) => ms - atMs[index]!);
  for (const [index, delay] of delays.entries()) assert.ok(delay >= 5 * 2 ** index - 1, delays.join());
  queue.add(at('b'));
  await until(() => handled.length === 7);
  await stop();
});

test('an object that always conflicts does not monopolize the queue', async () => {
  const gone = new ApiError(404, 'NotFound', { message: 'gone' });
  const { queue, handled, warnings, until, stop } = started(async () => {
    throw gone;
  });
  queue.add(at('a'));
  await until(() => warnings.length === 1);
  assert.equal(handled.length, 6);
  await stop();
});
