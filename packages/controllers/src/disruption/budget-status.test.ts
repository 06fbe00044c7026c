import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BudgetStatus, PodDisruptionBudget } from '../objects/pod-disruption-budget.ts';
import { type TestPod, testPod } from '../pods/test-pod.fixture.ts';
import { decideBudget, failedStatus, isSameStatus } from './budget-status.ts';

const NOW_MS = Date.UTC(2026, 0, 2);
const time = (secondsAgo: number) => new Date(NOW_MS - secondsAgo * 1000).toISOString().replace('.000', '');

function budgetOf(spec: PodDisruptionBudget['spec'], status: BudgetStatus = {}): PodDisruptionBudget {
  return { metadata: { namespace: 'shop', name: 'web', uid: 'u1', generation: 3 }, spec, status };
}

const ready = (count: number): TestPod[] =>
  Array.from({ length: count }, (_, index) => ({ name: `p${index}`, readySinceMs: 0 }));

type Case = {
  spec: PodDisruptionBudget['spec'];
  pods: TestPod[];
  scale?: number;
  disruptedPods?: Record<string, string>;
};

function decide({ spec, pods, scale = 0, disruptedPods }: Case) {
  const budget = budgetOf(spec, disruptedPods === undefined ? {} : { disruptedPods });
  return decideBudget({ budget, pods: pods.map(testPod), scale, nowMs: NOW_MS });
}

function check(title: string, given: Case, expected: string) {
  test(`${title}: ${expected}`, () => {
    const { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed } = decide(given).status;
    assert.equal(`${currentHealthy}/${desiredHealthy} of ${expectedPods}, ${disruptionsAllowed} allowed`, expected);
  });
}

check('a number', { spec: { minAvailable: 2 }, pods: ready(3) }, '3/2 of 3, 1 allowed');
check('a number that is not reached', { spec: { minAvailable: 5 }, pods: ready(3) }, '3/5 of 3, 0 allowed');
check('a percentage is rounded up', { spec: { minAvailable: '50%' }, pods: ready(3), scale: 3 }, '3/2 of 3, 1 allowed');
check('a maximum', { spec: { maxUnavailable: 1 }, pods: ready(3), scale: 4 }, '3/3 of 4, 0 allowed');
check(
  'a percentage as maximum is rounded up',
  { spec: { maxUnavailable: '30%' }, pods: ready(4), scale: 4 },
  '4/2 of 4, 2 allowed',
);
check('a maximum above the size', { spec: { maxUnavailable: 9 }, pods: ready(2), scale: 2 }, '2/0 of 2, 2 allowed');
check('no pods', { spec: { minAvailable: 0 }, pods: [] }, '0/0 of 0, 0 allowed');
check(
  'pods that are not ready or being deleted',
  { spec: { minAvailable: 1 }, pods: [...ready(2), { name: 'a' }, { name: 'b', readySinceMs: 0, isDeleting: true }] },
  '2/1 of 4, 1 allowed',
);
check(
  'an evicted pod is not healthy',
  { spec: { minAvailable: 1 }, pods: ready(3), disruptedPods: { p0: time(60) } },
  '2/1 of 3, 1 allowed',
);
check(
  'a pod whose eviction did not delete it is healthy',
  { spec: { minAvailable: 1 }, pods: ready(3), disruptedPods: { p0: time(121) } },
  '3/1 of 3, 2 allowed',
);

test('evictions are recorded until the pod is being deleted or a timeout expires', () => {
  const pods = [...ready(3), { name: 'deleting', isDeleting: true }];
  const disruptedPods = { p0: time(60), p1: time(121), deleting: time(1), absent: time(1) };
  const { status, notDeleted, recheckMs } = decide({ spec: { minAvailable: 1 }, pods, disruptedPods });
  assert.deepEqual(
    [status.disruptedPods, notDeleted.map(({ metadata }) => metadata.name), recheckMs],
    [{ p0: time(60) }, ['p1'], 60_000],
  );
});

test('the condition says whether disruptions are allowed, and its time changes only with its status', () => {
  const spec = { minAvailable: 1 };
  const before = decide({ spec, pods: ready(2) }).status;
  const condition = { type: 'DisruptionAllowed', message: '', observedGeneration: 3, lastTransitionTime: time(0) };
  assert.deepEqual(before.conditions, [{ ...condition, status: 'True', reason: 'SufficientPods' }]);
  const later = decideBudget({
    budget: budgetOf(spec, before),
    pods: ready(3).map(testPod),
    scale: 0,
    nowMs: NOW_MS + 9000,
  });
  assert.deepEqual(later.status.conditions, before.conditions);
  assert.ok(!isSameStatus(before, later.status) && isSameStatus(before, structuredClone(before)));
  const failed = failedStatus(budgetOf(spec, before), 'no', NOW_MS + 9000);
  assert.deepEqual(
    [failed.disruptionsAllowed, failed.conditions],
    [0, [{ ...condition, status: 'False', reason: 'SyncFailed', message: 'no', lastTransitionTime: time(-9) }]],
  );
});

test('an eviction dated in the future after the clock is set back is not waited for', () => {
  const given = { spec: { minAvailable: 1 }, pods: ready(3), disruptedPods: { p0: time(-86_400) } };
  const { status, notDeleted, recheckMs } = decide(given);
  assert.deepEqual(
    [status.disruptedPods, status.disruptionsAllowed, notDeleted.length, recheckMs],
    [undefined, 2, 1, undefined],
  );
});
