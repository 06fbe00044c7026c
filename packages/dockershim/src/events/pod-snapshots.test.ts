import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../engine/engine.ts';
import { PodSnapshots } from './pod-snapshots.ts';

test('a snapshot is reused for earlier events, unless the clock was set back', async ({ mock }) => {
  mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  let looks = 0;
  const containers = {
    list: async () => {
      looks++;
      return [];
    },
  };
  const verbs = { podSandboxStatus: async () => ({}), containerStatus: async () => ({}) };
  const snapshots = new PodSnapshots({ containers } as unknown as Engine, verbs);
  const take = (sinceMs: number) =>
    snapshots.take('a', sinceMs, { signal: AbortSignal.timeout(30_000), service: '', method: '' });
  await take(999_999);
  await take(999_998);
  assert.equal(looks, 1);
  mock.timers.setTime(500_000);
  await take(499_999);
  assert.equal(looks, 2);
});
