import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPod } from '../pods/test-pod.fixture.ts';
import { decideReplicas } from './decide-replicas.ts';
import { isSameStatus, replicaSetStatus, type StatusInput } from './replica-set-status.ts';

const NOW_MS = Date.UTC(2026, 0, 2);
const pods = (count: number) => Array.from({ length: count }, (_, index) => testPod({ name: `p${index}` }));

function check(wanted: number, existing: number, expected: string, isDeleting = false) {
  test(`${wanted} wanted, ${existing} active${isDeleting ? ', being deleted' : ''}: ${expected}`, () => {
    const state = { wanted, isDeleting, active: pods(existing), related: [], nowMs: NOW_MS };
    const action = decideReplicas(state);
    const count = action.type === 'create' ? action.count : action.type === 'delete' ? action.pods.length : 0;
    assert.equal(`${action.type} ${count}`, expected);
  });
}

check(3, 1, 'create 2');
check(1, 3, 'delete 2');
check(2, 2, 'none 0');
check(0, 1, 'delete 1');
check(2000, 0, 'create 500');
check(0, 501, 'delete 500');
check(3, 1, 'none 0', true);

test('no pods are created while a thousand of the set’s pods wait to start', () => {
  const count = (waiting: number, running: number) => {
    const active = [...Array(waiting).fill(testPod({ phase: 'Pending' })), ...pods(running)];
    const action = decideReplicas({ wanted: 2 ** 31 - 1, isDeleting: false, active, related: [], nowMs: NOW_MS });
    return action.type === 'create' ? action.count : 0;
  };
  assert.deepEqual([count(0, 5000), count(499, 0), count(900, 0), count(1000, 0)], [500, 500, 100, 0]);
});

const LABELS = { app: 'web' };
const TEMPLATE = { metadata: { labels: LABELS }, spec: { containers: [] } };

function status(
  changed: Partial<StatusInput> = {},
  minReadySeconds = 0,
  before: StatusInput['replicaSet']['status'] = {},
) {
  const spec = { replicas: 2, minReadySeconds, selector: { matchLabels: LABELS }, template: TEMPLATE };
  const replicaSet = { metadata: { generation: 4 }, spec, status: before };
  return replicaSetStatus({ replicaSet, active: [], nowMs: NOW_MS, ...changed });
}

test('the status counts total, fully labeled, ready, available and terminating pods', () => {
  const active = [
    testPod({ labels: { app: 'web', more: 'x' }, readySinceMs: NOW_MS - 10_000 }),
    testPod({ labels: LABELS, readySinceMs: NOW_MS - 1_000 }),
    testPod({}),
  ];
  assert.deepEqual(status({ active, terminating: 4 }, 10), {
    replicas: 3,
    fullyLabeledReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 1,
    terminatingReplicas: 4,
    observedGeneration: 4,
  });
});

const FAILED = { type: 'ReplicaFailure', status: 'True', lastTransitionTime: '2026-01-02T00:00:00Z' };

test('a failure is a condition until a sync succeeds, and unknown fields are preserved', () => {
  const failed = status({ failure: 'no quota' });
  assert.deepEqual(failed.conditions, [{ ...FAILED, reason: 'FailedCreate', message: 'no quota' }]);
  assert.deepEqual(status({ failure: 'other' }, 0, failed).conditions, failed.conditions);
  const known = { ...failed, conditions: [...failed.conditions!, { type: 'Mine', status: 'True' }], mine: 1 };
  const later = status({}, 0, known);
  assert.deepEqual([later.conditions, (later as typeof known).mine], [[{ type: 'Mine', status: 'True' }], 1]);
  const surplus = status({ failure: 'no', active: pods(3) });
  assert.equal(surplus.conditions![0]!.reason, 'FailedDelete');
});

test('unset counts equal 0, except for the count of terminating pods', () => {
  assert.ok(isSameStatus({}, { replicas: 0, readyReplicas: 0, observedGeneration: 0 }));
  assert.ok(!isSameStatus({}, { terminatingReplicas: 0 }));
  assert.ok(!isSameStatus({}, { conditions: [{ type: 'A', status: 'True' }] }));
});
