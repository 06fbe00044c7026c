import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from './errors.ts';
import { SharedWork } from './shared-work.ts';

const forever = new AbortController().signal;

test('concurrent callers with the same key share the work, and a call after its end starts it again', async () => {
  const work = new SharedWork();
  let runs = 0;
  const run = () => work.run({ key: 'pod' }, forever, async () => ++runs);
  assert.deepEqual(await Promise.all([run(), run()]), [1, 1]);
  assert.equal(await run(), 2);
});

test('work continues after its caller’s deadline, and a retry gets its result', async () => {
  const work = new SharedWork();
  const caller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = work.run({ key: 'pod' }, caller.signal, () => promise);
  caller.abort(new PodwrightError('deadline_exceeded', 'the deadline passed'));
  await assert.rejects(first, /the deadline passed/);
  const retry = work.run({ key: 'pod' }, forever, () => assert.fail('the work runs already'));
  resolve('made');
  assert.equal(await retry, 'made');
  await work.idle();
});

test('work that fails after its caller aborted causes no unhandled rejection', async () => {
  const work = new SharedWork();
  await assert.rejects(
    work.run({ key: 'pod' }, AbortSignal.abort(new Error('gone')), () => Promise.reject(new Error('no'))),
    /gone/,
  );
  await work.idle();
});

/** Returns work that rejects only after it has been abandoned and the test has resolved `rolledBack`. */
function endlessWork() {
  const rolledBack = Promise.withResolvers<void>();
  const work = async (abandoned: AbortSignal): Promise<never> => {
    await new Promise((resolve) => abandoned.addEventListener('abort', resolve));
    await rolledBack.promise;
    throw abandoned.reason;
  };
  return { work, rolledBack };
}

test('work is abandoned once its last caller cancels, and the next call waits for its rollback', async () => {
  const shared = new SharedWork();
  const callers = [new AbortController(), new AbortController()];
  const { work, rolledBack } = endlessWork();
  const calls = callers.map(({ signal }) => shared.run({ key: 'pod' }, signal, work).catch((error) => error.message));
  callers[0]!.abort(new Error('first'));
  assert.equal(await calls[0], 'first');
  callers[1]!.abort(new Error('second'));
  assert.equal(await calls[1], 'second');
  const states: string[] = [];
  const next = shared.run({ key: 'pod' }, forever, async () => states.push('begun'));
  states.push('rolled back');
  rolledBack.resolve();
  await next;
  assert.deepEqual(states, ['rolled back', 'begun']);
});

test('all work can be abandoned', async () => {
  const shared = new SharedWork();
  const { work, rolledBack } = endlessWork();
  const call = shared.run({ key: 'pod' }, forever, work);
  rolledBack.resolve();
  shared.abandon();
  await assert.rejects(call, { code: 'unavailable' });
});

test('a call with the same key but different input is refused at once, one with equal input shares the work', async () => {
  const shared = new SharedWork();
  const { promise, resolve } = Promise.withResolvers<string>();
  const input = { labels: { app: 'web' }, ports: [{ port: 80 }] };
  const first = shared.run({ key: 'run pod', input }, forever, () => promise);
  const other = { labels: { app: 'web' }, ports: [{ port: 81 }] };
  await assert.rejects(
    shared.run({ key: 'run pod', input: other }, forever, () => assert.fail('the work runs already')),
    { code: 'already_exists', message: 'run pod: a call with another ports.0.port is under way' },
  );
  const same = shared.run({ key: 'run pod', input: structuredClone(input) }, forever, () => assert.fail('it runs'));
  resolve('made');
  assert.deepEqual(await Promise.all([first, same]), ['made', 'made']);
  assert.equal(await shared.run({ key: 'run pod', input: other }, forever, async () => 'again'), 'again');
});

test('idle time is 0 while work runs, and counts from the end of the last work', async () => {
  const work = new SharedWork();
  const { promise, resolve } = Promise.withResolvers<void>();
  const running = work.run({ key: 'pod' }, forever, () => promise);
  await work.run({ key: 'other' }, forever, async () => undefined);
  assert.equal(work.idleMs, 0);
  const begin = performance.now();
  resolve();
  await running;
  const { idleMs } = work;
  assert.ok(idleMs >= 0 && idleMs <= performance.now() - begin, `${idleMs}`);
});
