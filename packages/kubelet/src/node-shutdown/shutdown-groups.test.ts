import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import {
  groupPods,
  type ShutdownPeriod,
  shutdownGraceSeconds,
  shutdownPeriods,
  wholePeriodMs,
} from './shutdown-groups.ts';

const NOTHING = { shutdownGracePeriod: 0, shutdownGracePeriodCriticalPods: 0, shutdownGracePeriodByPodPriority: [] };
const CRITICAL = 2_000_000_000;

function podOf(name: string, priority?: number, terminationGracePeriodSeconds?: number): Pod {
  const spec = { containers: [], priority, terminationGracePeriodSeconds };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'd', uid: name }, spec };
}

test('shutdownGracePeriod is split into periods of non-critical and critical pods', () => {
  assert.deepEqual(shutdownPeriods(NOTHING), []);
  const periods = shutdownPeriods({ ...NOTHING, shutdownGracePeriod: 30_900, shutdownGracePeriodCriticalPods: 10_000 });
  assert.deepEqual(periods, [
    { priority: 0, gracePeriodSeconds: 20 },
    { priority: CRITICAL, gracePeriodSeconds: 10 },
  ]);
  assert.equal(wholePeriodMs(periods), 30_000);
});

test('periods by priority are sorted from low to high', () => {
  const given = [{ priority: 100, shutdownGracePeriodSeconds: 5 }, { shutdownGracePeriodSeconds: 7 }, { priority: -1 }];
  assert.deepEqual(shutdownPeriods({ ...NOTHING, shutdownGracePeriodByPodPriority: given }), [
    { priority: -1, gracePeriodSeconds: 0 },
    { priority: 0, gracePeriodSeconds: 7 },
    { priority: 100, gracePeriodSeconds: 5 },
  ]);
});

test("a pod belongs to the period at or next below its priority, else to the first (upstream's groupByPriority)", () => {
  const periods = [-10, 0, 100, CRITICAL].map((priority): ShutdownPeriod => ({ priority, gracePeriodSeconds: 1 }));
  const pods = [
    ...[podOf('none'), podOf('least', -11), podOf('low', -5), podOf('zero', 0), podOf('between', 99)],
    ...[podOf('exact', 100), podOf('above', 101), podOf('critical', CRITICAL), podOf('most', CRITICAL + 1)],
  ];
  const groups = groupPods(periods, pods).map(({ period, pods }) => [
    period.priority,
    ...pods.map(({ metadata }) => metadata.name),
  ]);
  assert.deepEqual(groups, [
    [-10, 'least', 'low'],
    [0, 'none', 'zero', 'between'],
    [100, 'exact', 'above'],
    [CRITICAL, 'critical', 'most'],
  ]);
  assert.deepEqual(groupPods(periods, [podOf('a', 100)]).length, 1, 'periods without pods are skipped');
});

test('a pod gets its own grace period, limited to its period, and at least a second', () => {
  const grace = (own: number | undefined, seconds: number) =>
    shutdownGraceSeconds(podOf('a', 0, own), { priority: 0, gracePeriodSeconds: seconds });
  assert.deepEqual(
    [grace(10, 30), grace(60, 30), grace(undefined, 100), grace(10, 0), grace(0, 30)],
    [10, 30, 30, 1, 1],
  );
});
