import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_TIMER_MS, raceAbort, sleep, withTimeout } from './deadline.ts';

test('work that fails after raceAbort has rejected causes no unhandled rejection', async () => {
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
  ['30 days', 30 * 24 * 3600 * 1000],
  ['one millisecond more than the longest Node.js timer', MAX_TIMER_MS + 1],
  ['292 million years', 2 ** 63],
  ['infinity', Number.POSITIVE_INFINITY],
] as const) {
  test(`a duration of ${what} does not elapse early`, ({ mock }) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    using deadline = withTimeout(undefined, durationMs, 'wait');
    const stop = new AbortController();
    let slept = false;
    sleep(durationMs, stop.signal).then(
      () => (slept = true),
      () => undefined,
    );
    mock.timers.tick(MAX_TIMER_MS);
    assert.deepEqual([deadline.aborted, slept], [false, false]);
    stop.abort();
  });
}

test('a duration of 30 days elapses after 30 days', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  using deadline = withTimeout(undefined, 30 * 24 * 3600 * 1000, 'wait');
  mock.timers.tick(MAX_TIMER_MS);
  mock.timers.tick(30 * 24 * 3600 * 1000 - MAX_TIMER_MS - 1);
  assert.equal(deadline.aborted, false);
  mock.timers.tick(1);
  assert.equal(deadline.aborted, true);
});

test('a duration that is NaN is refused as an internal error', () =>
  assert.throws(() => withTimeout(undefined, Number.NaN, 'wait'), { code: 'internal' }));
