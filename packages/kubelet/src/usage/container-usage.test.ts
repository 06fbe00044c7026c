import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withTimeout } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { ContainerUsage } from './container-usage.ts';

test('wall clock changes make a report neither late nor stale', async (t) => {
  let offsetMs = 0;
  const now = Date.now;
  t.mock.method(Date, 'now', () => now() + offsetMs);
  let calls = 0;
  const listContainerStats = async () => {
    calls++;
    return { stats: [] };
  };
  const usage = new ContainerUsage({ runtime: { listContainerStats } } as unknown as CriClient);
  using signal = withTimeout(undefined, 30_000, 'report the usage');
  for (offsetMs of [0, -3_600_000, 3_600_000]) {
    const { windowMs, atMs } = await usage.report(signal);
    assert.ok(windowMs >= 100 && windowMs < 60_000, `a window of ${windowMs} ms`);
    assert.ok(Math.abs(atMs - Date.now()) < 60_000);
  }
  assert.equal(calls, 4);
});
