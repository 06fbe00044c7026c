import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedWork } from './shared-work.ts';

const forever = new AbortController().signal;

test('callers of one key share the work, and the next call after it begins anew', async () => {
  const work = new SharedWork();
  let runs = 0;
  const run = () => work.run('pod', forever, async () => ++runs);
  assert.deepEqual(await Promise.all([run(), run()]), [1, 1]);
  assert.equal(await run(), 2);
});

test('work goes on when its caller goes away, and a retry gets its result', async () => {
  const work = new SharedWork();
  const caller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = work.run('pod', caller.signal, () => promise);
  caller.abort(new Error('the deadline passed'));
  await assert.rejects(first, /the deadline passed/);
  const retry = work.run('pod', forever, () => assert.fail('the work runs already'));
  resolve('made');
  assert.equal(await retry, 'made');
  await work.idle();
});

test('work that fails after its caller has gone disturbs nobody', async () => {
  const work = new SharedWork();
  await assert.rejects(
    work.run('pod', AbortSignal.abort(new Error('gone')), () => Promise.reject(new Error('no'))),
    /gone/,
  );
  await work.idle();
});
