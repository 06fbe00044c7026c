import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TestPod, testPod } from '../pods/test-pod.fixture.ts';
import { podsToDelete } from './pods-to-delete.ts';

const NOW_MS = Date.UTC(2026, 0, 2);
const HOUR_MS = 3_600_000;
const COST = 'controller.kubernetes.io/pod-deletion-cost';
const cost = (value: string) => ({ annotations: { [COST]: value }, readySinceMs: 0, createdMs: 0 });
const ready = { readySinceMs: NOW_MS - HOUR_MS, createdMs: NOW_MS - HOUR_MS };

/** Asserts that the first pod of the pair is deleted before the second, regardless of their order in the list. */
function check(rule: string, first: TestPod, second: TestPod, crowded: readonly string[] = []) {
  test(`scaling down deletes ${rule}`, () => {
    const pods = [testPod({ ...first, name: 'a' }), testPod({ ...second, name: 'b' })];
    const related = [...pods, ...crowded.map((node, index) => testPod({ name: `other-${index}`, node }))];
    for (const listed of [pods, pods.toReversed()]) {
      const deleted = podsToDelete(listed, 1, { related, nowMs: NOW_MS });
      assert.deepEqual(
        deleted.map(({ metadata }) => metadata.name),
        ['a'],
      );
    }
  });
}

check('an unassigned pod before an assigned one', { node: '', ...ready }, { phase: 'Pending' });
check('a pending pod before a running one', { phase: 'Pending', ...ready }, {});
check('a pending pod before one in an unknown phase', { phase: 'Pending' }, { phase: 'Unknown' });
check('a pod that is not ready before a ready one', {}, ready);
check('the pod with the lower cost', cost('-1'), cost('0'));
check('the pod with the lower cost even if the other is on a crowded node', cost('1'), { ...cost('2'), node: 'n2' }, [
  'n2',
  'n2',
]);
check('a pod of a crowded node', { ...ready, node: 'n2' }, { ...ready, createdMs: NOW_MS }, ['n2']);
check('the pod that has been ready for a shorter time', ready, { ...ready, readySinceMs: NOW_MS - 10 * HOUR_MS });
check('the pod with more restarts', { ...ready, restarts: 2 }, { ...ready, restarts: 1 });
check('the younger pod', ready, { ...ready, createdMs: NOW_MS - 10 * HOUR_MS });
check('of pods of about the same age the one with the first UID', ready, {
  ...ready,
  createdMs: ready.createdMs + 1000,
});
check('a pod without a time of creation', { readySinceMs: 0 }, { readySinceMs: 0, createdMs: NOW_MS });

test('a deletion cost that is not a 32-bit integer counts as 0', () => {
  const costs = ['+5', '05', '3000000000', 'x'];
  for (const value of costs) {
    const pods = [testPod({ name: 'b', ...cost(value) }), testPod({ name: 'a', ...cost('-1') })];
    assert.equal(podsToDelete(pods, 1, { related: [], nowMs: NOW_MS })[0]!.metadata.name, 'a', value);
  }
});

test('all pods are deleted if that many are requested', () => {
  assert.equal(podsToDelete([testPod({})], 1, { related: [], nowMs: NOW_MS }).length, 1);
});
