import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shutdownPeriods } from './shutdown-periods.ts';

const NOTHING = { shutdownGracePeriod: 0, shutdownGracePeriodCriticalPods: 0, shutdownGracePeriodByPodPriority: [] };
const CRITICAL = 2_000_000_000;

test('shutdownGracePeriod is split into periods for non-critical and critical pods', () => {
  assert.deepEqual(shutdownPeriods(NOTHING), []);
  const periods = shutdownPeriods({ ...NOTHING, shutdownGracePeriod: 30_900, shutdownGracePeriodCriticalPods: 10_000 });
  assert.deepEqual(periods, [
    { priority: 0, gracePeriodSeconds: 20 },
    { priority: CRITICAL, gracePeriodSeconds: 10 },
  ]);
});

test('periods by priority are sorted in ascending order', () => {
  const given = [{ priority: 100, shutdownGracePeriodSeconds: 5 }, { shutdownGracePeriodSeconds: 7 }, { priority: -1 }];
  assert.deepEqual(shutdownPeriods({ ...NOTHING, shutdownGracePeriodByPodPriority: given }), [
    { priority: -1, gracePeriodSeconds: 0 },
    { priority: 0, gracePeriodSeconds: 7 },
    { priority: 100, gracePeriodSeconds: 5 },
  ]);
});
