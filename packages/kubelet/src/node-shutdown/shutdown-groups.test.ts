import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import type { ShutdownPeriod } from '@podwright/kubelet-configuration';
import { groupPods, shutdownGraceSeconds, wholePeriodMs } from './shutdown-groups.ts';

const CRITICAL = 2_000_000_000;

function podOf(name: string, priority?: number, terminationGracePeriodSeconds?: number): Pod {
  const spec = { containers: [], priority, terminationGracePeriodSeconds };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'd', uid: name }, spec };
}

test("a pod belongs to the period with the highest priority not above its own, else to the first (upstream's groupByPriority)", () => {
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

test('a pod gets its own grace period, capped at its shutdown period, but at least a second', () => {
  const grace = (own: number | undefined, seconds: number) =>
    shutdownGraceSeconds(podOf('a', 0, own), { priority: 0, gracePeriodSeconds: seconds });
  assert.deepEqual(
    [grace(10, 30), grace(60, 30), grace(undefined, 100), grace(10, 0), grace(0, 30)],
    [10, 30, 30, 1, 1],
  );
});

test('the maximum shutdown delay is the sum of all periods', () => {
  const periods = [20, 10].map((gracePeriodSeconds, priority) => ({ priority, gracePeriodSeconds }));
  assert.equal(wholePeriodMs(periods), 30_000);
});
