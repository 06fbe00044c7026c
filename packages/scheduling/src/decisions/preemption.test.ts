import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import type { Snapshot } from '../cluster/snapshot.ts';
import { testNode, testPod, testSnapshot } from '../cluster/test-objects.fixture.ts';
import { decidePod } from './decide-pod.ts';

const withPriority = (name: string, priority: number, cpu: string, rest: Partial<Parameters<typeof testPod>[1]> = {}) =>
  testPod(name, { requests: { cpu }, ...rest, spec: { priority, ...rest.spec } });

/** Returns the decision as text: the node, with the names of the pods to be preempted if there are any, or the message. */
function decide(pod: Pod, snapshot: Snapshot): string {
  const decision = decidePod(pod, snapshot, []);
  if (decision.kind === 'assign') return `fits ${decision.node}`;
  const { preemption, message } = decision;
  return preemption === undefined
    ? message
    : `${preemption.node}: ${preemption.victims.map(({ metadata }) => metadata.name).join(' ')}`;
}

const vip = withPriority('vip', 10, '1');

test('the fewest and lowest-priority pods are preempted', () => {
  const snapshot = testSnapshot([
    [testNode('a'), withPriority('low', 1, '1'), withPriority('lower', 0, '500m'), withPriority('tiny', 0, '100m')],
  ]);
  assert.equal(decide(vip, snapshot), 'a: lower tiny');
  assert.equal(decide(withPriority('vip', 10, '2'), snapshot), 'a: low lower tiny');
});

test('pods with the same or a higher priority are not preempted', () => {
  const only = testSnapshot([[testNode('a'), withPriority('o', 10, '2')]]);
  assert.equal(
    decide(vip, only),
    '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
  );
});

test('nothing is preempted if it does not help', () => {
  const low = withPriority('low', 0, '2');
  const huge = withPriority('vip', 10, '3');
  assert.equal(
    decide(huge, testSnapshot([[testNode('a'), low]])),
    '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
  );
  const mixed = testSnapshot([[testNode('a'), withPriority('high', 10, '1500m'), withPriority('low', 0, '500m')]]);
  assert.match(decide(vip, mixed), /preemption: 0\/1 nodes are available: 1 Insufficient cpu\.$/);
  const cordoned = testSnapshot([[testNode('a', { spec: { unschedulable: true } }), low]]);
  assert.match(decide(vip, cordoned), /1 Preemption is not helpful for scheduling\.$/);
});

test('a pod that must not preempt reports that', () => {
  const snapshot = testSnapshot([[testNode('a'), withPriority('low', 0, '2')]]);
  const modest = withPriority('vip', 10, '1', { spec: { preemptionPolicy: 'Never' } });
  assert.equal(
    decide(modest, snapshot),
    '0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.',
  );
});

test('no further pods are preempted while the previous victims are terminating', () => {
  const ending = withPriority('low', 0, '2', {
    metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
    status: { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }] },
  });
  const waiting = withPriority('vip', 10, '1', { status: { nominatedNodeName: 'a' } });
  assert.match(
    decide(waiting, testSnapshot([[testNode('a'), ending]])),
    /preemption: not eligible due to a terminating pod on the nominated node\.$/,
  );
});

test('the node with the least important victims is chosen, and disruption budgets take precedence', () => {
  const node = (name: string, ...pods: Pod[]) => [testNode(name), ...pods] as const;
  const started = (name: string, at: string) => withPriority(name, 0, '2', { status: { startTime: at } });
  assert.equal(
    decide(vip, testSnapshot([node('a', withPriority('x', 5, '2')), node('b', withPriority('y', 1, '2'))])),
    'b: y',
  );
  assert.equal(
    decide(
      vip,
      testSnapshot([node('a', started('x', '2026-01-01T00:00:00Z')), node('b', started('y', '2026-01-02T00:00:00Z'))]),
    ),
    'b: y',
  );
  const labels = { app: 'db' };
  const budget = {
    metadata: { namespace: 'default', name: 'db' },
    spec: { selector: { matchLabels: labels } },
    status: { disruptionsAllowed: 0 },
  };
  const guarded = withPriority('y', 1, '2', { labels });
  const nodes = [node('a', withPriority('x', 5, '2')), node('b', guarded)];
  assert.equal(decide(vip, testSnapshot(nodes, { budgets: [budget] })), 'a: x');
  assert.equal(
    decide(vip, testSnapshot(nodes, { budgets: [{ ...budget, status: { disruptionsAllowed: 1 } }] })),
    'b: y',
  );
  const pair = [node('a', withPriority('x', 5, '1'), withPriority('y', 1, '1', { labels }))];
  assert.equal(decide(vip, testSnapshot(pair, { budgets: [budget] })), 'a: x');
});
