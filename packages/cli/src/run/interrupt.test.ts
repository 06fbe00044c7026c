import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TimedOut, timeoutSignal } from './interrupt.ts';

test('--timeout ends a command in time, and does not fire at once if beyond the limit of setTimeout', async () => {
  const [soon, late] = [timeoutSignal(1), timeoutSignal(600 * 3_600_000)];
  await sleep(20);
  assert.ok(soon.reason instanceof TimedOut);
  assert.equal(late.aborted, false);
});
