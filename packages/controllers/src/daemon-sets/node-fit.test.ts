import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelectorTerm, PodSpec, Taint, Toleration } from '@podwright/kube-api';
import { newNode } from './daemon-set.fixture.ts';
import { nodeFit } from './node-fit.ts';

type Fit = 'run' | 'stay' | 'never';

function check(spec: Partial<PodSpec>, node: { taints?: Taint[]; labels?: Record<string, string> }, expected: Fit) {
  const { shouldRun, mayStay } = nodeFit({ containers: [], ...spec }, newNode('n1', node));
  assert.equal(shouldRun ? 'run' : mayStay ? 'stay' : 'never', expected, JSON.stringify({ spec, node }));
}

const taint = (key: string, effect: string, value?: string): Taint => ({ key, effect, value });

test('DaemonSet pods tolerate node problems', () => {
  for (const key of ['not-ready', 'unreachable'])
    check({}, { taints: [taint(`node.kubernetes.io/${key}`, 'NoExecute')] }, 'run');
  for (const key of ['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'])
    check({}, { taints: [taint(`node.kubernetes.io/${key}`, 'NoSchedule')] }, 'run');
  const network = { taints: [taint('node.kubernetes.io/network-unavailable', 'NoSchedule')] };
  check({}, network, 'stay');
  check({ hostNetwork: true }, network, 'run');
});

test('other taints keep pods away, and only NoExecute evicts them', () => {
  check({}, { taints: [taint('x', 'PreferNoSchedule')] }, 'run');
  check({}, { taints: [taint('x', 'NoSchedule')] }, 'stay');
  check({}, { taints: [taint('x', 'NoExecute')] }, 'never');
  const tolerates = (toleration: Toleration, expected: Fit) =>
    check({ tolerations: [toleration] }, { taints: [taint('x', 'NoSchedule', 'v')] }, expected);
  tolerates({ key: 'x', value: 'v', effect: 'NoSchedule' }, 'run');
  tolerates({ key: 'x', value: 'v' }, 'run');
  tolerates({ key: 'x', value: 'w' }, 'stay');
  tolerates({ key: 'x', operator: 'Exists' }, 'run');
  tolerates({ operator: 'Exists' }, 'run');
  tolerates({ key: 'x', operator: 'Exists', effect: 'NoExecute' }, 'stay');
});

test('the node must have the name and labels required by the template', () => {
  check({ nodeName: 'n1' }, {}, 'run');
  check({ nodeName: 'n2' }, {}, 'never');
  check({ nodeSelector: { zone: 'a' } }, { labels: { zone: 'a' } }, 'run');
  check({ nodeSelector: { zone: 'a' } }, { labels: { zone: 'b' } }, 'never');
});

test('one matching node selector term suffices', () => {
  const requires = (terms: NodeSelectorTerm[], labels: Record<string, string>, expected: Fit) => {
    const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms: terms };
    check({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } }, { labels }, expected);
  };
  const term = (operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt', ...values: string[]) => ({
    matchExpressions: [{ key: 'k', operator, values }],
  });
  requires([term('In', '1', '2')], { k: '2' }, 'run');
  requires([term('In', '1')], {}, 'never');
  requires([term('NotIn', '1')], {}, 'run');
  requires([term('Exists')], { k: '' }, 'run');
  requires([term('DoesNotExist')], { k: '' }, 'never');
  requires([term('Gt', '5')], { k: '10' }, 'run');
  requires([term('Lt', '5')], { k: '10' }, 'never');
  requires([term('Lt', '5')], { k: 'x' }, 'never');
  requires([], {}, 'never');
  requires([{}], {}, 'never');
  requires([{}, term('Exists')], { k: '' }, 'run');
  requires([{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }], {}, 'run');
  requires([{ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n1'] }] }], {}, 'never');
});
