import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { type MockTracker, test } from 'node:test';
import { pause, raceAbort, sleep, Timer, withTimeout } from './deadline.ts';

/** `setTimeout`'s maximum delay. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const DAY_MS = 24 * 3600 * 1000;

test('a promise that rejects after its race was aborted causes no unhandled rejection', async () => {
  const failures: unknown[] = [];
  const note = (reason: unknown) => failures.push(reason);
  process.on('unhandledRejection', note);
  const work = Promise.withResolvers<void>();
  await assert.rejects(raceAbort(work.promise, AbortSignal.abort(new Error('given up'))), { message: 'given up' });
  work.reject(new Error('late'));
  await new Promise((resolve) => setTimeout(resolve, 5));
  process.off('unhandledRejection', note);
  assert.deepEqual(failures, []);
});

for (const [what, durationMs] of [
  ['30 days', 30 * DAY_MS],
  ['a millisecond more than setTimeout supports', MAX_TIMEOUT_MS + 1],
  ['292 million years', 2 ** 63],
  ['infinity', Number.POSITIVE_INFINITY],
] as const) {
  test(`a timeout of ${what} does not fire early`, ({ mock }) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    using deadline = withTimeout(undefined, durationMs, 'wait');
    const stop = new AbortController();
    let slept = false;
    sleep(durationMs, stop.signal).then(
      () => (slept = true),
      () => undefined,
    );
    mock.timers.tick(MAX_TIMEOUT_MS);
    assert.deepEqual([deadline.aborted, slept], [false, false]);
    stop.abort();
  });
}

test('a timeout of 30 days fires after 30 days', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  using deadline = withTimeout(undefined, 30 * DAY_MS, 'wait');
  mock.timers.tick(MAX_TIMEOUT_MS);
  mock.timers.tick(30 * DAY_MS - MAX_TIMEOUT_MS - 1);
  assert.equal(deadline.aborted, false);
  mock.timers.tick(1);
  assert.equal(deadline.aborted, true);
});

test('a deadline in the past fires at once, without a Node.js warning', async () => {
  const warnings: Error[] = [];
  const collect = (warning: Error) => warnings.push(warning);
  process.on('warning', collect);
  await sleep(-50.9);
  await new Promise(setImmediate); // warnings are emitted later
  process.off('warning', collect);
  assert.deepEqual(warnings, []);
});

test('a NaN timeout is an internal error', () =>
  assert.throws(() => withTimeout(undefined, Number.NaN, 'wait'), { code: 'internal' }));

test('refreshing a 30-day timer restarts its full delay', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const fired = mock.fn();
  using timer = new Timer(fired, 30 * DAY_MS);
  tick(mock, 30 * DAY_MS - 1);
  timer.refresh();
  tick(mock, 30 * DAY_MS - 1);
  assert.equal(fired.mock.callCount(), 0);
  tick(mock, 1);
  assert.equal(fired.mock.callCount(), 1);
});

test('a timer refreshed after firing fires again', { timeout: 5000 }, async () => {
  const events = new EventEmitter();
  using timer = new Timer(() => events.emit('fired'), 1);
  await once(events, 'fired');
  timer.refresh();
  await once(events, 'fired');
});

for (const days of [1, 30])
  test(`a disposed timer of ${days} days does not fire`, ({ mock }) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const fired = mock.fn();
    const timer = new Timer(fired, days * DAY_MS);
    tick(mock, days * DAY_MS - 1);
    timer[Symbol.dispose]();
    tick(mock, DAY_MS);
    assert.equal(fired.mock.callCount(), 0);
  });

/** Advances the mocked clock in steps, because a tick runs only the timers that exist when it begins. */
function tick({ timers }: MockTracker, durationMs: number): void {
  for (let leftMs = durationMs; leftMs > 0; leftMs -= MAX_TIMEOUT_MS) timers.tick(Math.min(leftMs, MAX_TIMEOUT_MS));
}

test('a pause ends after its duration, or when the signal aborts', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const stop = new AbortController();
  const ended: string[] = [];
  const whole = pause(100, new AbortController().signal).then(() => ended.push('whole'));
  const cut = pause(100, stop.signal).then(() => ended.push('cut'));
  stop.abort();
  await cut;
  assert.deepEqual(ended, ['cut']);
  mock.timers.tick(100);
  await whole;
  await pause(100, stop.signal);
  assert.deepEqual(ended, ['cut', 'whole']);
});
