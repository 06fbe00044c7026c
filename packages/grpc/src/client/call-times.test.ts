import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallTimes } from './call-times.ts';

test('each call ends at its own deadline, unless it has ended earlier', async () => {
  const times = new CallTimes();
  const over: string[] = [];
  const done = Promise.withResolvers<void>();
  const beginMs = performance.now();
  const hold = setInterval(() => undefined, 1000); // the timers under test do not keep the process alive
  const begin = (name: string, durationMs: number) =>
    times.begin(durationMs, () => over.push(`${name}${performance.now() - beginMs < durationMs - 1 ? ' early' : ''}`));
  const cancel = begin('first', 60);
  begin('longer', 120);
  begin('second', 60);
  begin('short', 20);
  setTimeout(() => {
    begin('later', 60);
    times.begin(120, () => done.resolve());
  }, 40);
  cancel();
  await done.promise;
  clearInterval(hold);
  assert.deepEqual(over, ['short', 'second', 'later', 'longer']);
});
