import assert from 'node:assert/strict';
import { test } from 'node:test';
import { raceAbort } from '@podwright/base';
import { SharedTasks } from './shared-task.ts';

const forever = new AbortController().signal;

test('concurrent callers with the same key share the work, and a call after its end starts it again', async () => {
  const tasks = new SharedTasks();
  let runs = 0;
  const run = () => tasks.run('a', forever, async () => ++runs);
  assert.deepEqual(await Promise.all([run(), run()]), [1, 1]);
  assert.equal(await run(), 2);
});

test('the work is aborted only when its last caller aborts', async () => {
  const tasks = new SharedTasks();
  const callers = [new AbortController(), new AbortController()];
  let shared: AbortSignal | undefined;
  const calls = callers.map(({ signal }) =>
    tasks.run('a', signal, (given) => {
      shared = given;
      return raceAbort(new Promise<never>(() => undefined), given);
    }),
  );
  for (const [index, caller] of callers.entries()) {
    assert.equal(shared?.aborted, false);
    caller.abort(new Error(`caller ${index} leaves`));
    await assert.rejects(calls[index]!, new RegExp(`caller ${index} leaves`));
  }
  assert.match(String(shared?.reason), /caller 1 leaves/);
});

test('closing aborts running work and waits for it to end', async () => {
  const tasks = new SharedTasks();
  const call = tasks.run('a', forever, (given) => raceAbort(new Promise<never>(() => undefined), given));
  await Promise.all([tasks.close(new Error('stopping')), assert.rejects(call, /stopping/)]);
});

test('closing waits for work that its callers have aborted', async () => {
  const tasks = new SharedTasks();
  const caller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const aborted = tasks.run('a', caller.signal, () => promise);
  caller.abort(new Error('gone'));
  await assert.rejects(aborted, /gone/);
  let closed = false;
  const closing = tasks.close(new Error('stop')).then(() => {
    closed = true;
  });
  await new Promise(setImmediate);
  assert.equal(closed, false);
  resolve();
  await closing;
});

test('a caller does not join work aborted by its last caller', async () => {
  const tasks = new SharedTasks();
  const caller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = tasks.run('a', caller.signal, () => promise);
  caller.abort(new Error('gone'));
  await assert.rejects(first, /gone/);
  assert.equal(await tasks.run('a', forever, async () => 'again'), 'again');
  resolve('late');
});

test('a failure reaches every caller', async () => {
  const tasks = new SharedTasks();
  const run = () => tasks.run('a', forever, () => Promise.reject(new Error('no')));
  const both = await Promise.allSettled([run(), run()]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
});
