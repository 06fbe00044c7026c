import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, NodeStatus } from '@podwright/kube-api';
import { takeOverNode } from './existing-node.ts';
import { registered } from './seen-node.fixture.ts';

const INITIAL = registered();
const ATTACHES = 'volumes.kubernetes.io/controller-managed-attach-detach';

type Given = { metadata?: Node['metadata']; status?: NodeStatus; spec?: Node['spec'] };
const existing = ({ metadata, status, ...more }: Given): Node => ({
  ...INITIAL,
  ...more,
  metadata: { ...INITIAL.metadata, ...metadata },
  status: { ...INITIAL.status, ...status },
});
const take = (node: Node, initial = INITIAL, resetExtendedResources = false) =>
  takeOverNode(node, initial, { resetExtendedResources });

test('an up-to-date node object is not written', () => {
  const node = existing({ spec: { taints: [{ key: 'of others', effect: 'NoSchedule' }] } });
  assert.equal(take(node), node);
});

test('standard labels are updated, other labels and taints are kept', () => {
  const labels = { 'kubernetes.io/hostname': 'other', mine: '1', 'topology.kubernetes.io/zone': 'z' };
  const taken = take(existing({ metadata: { labels }, spec: { taints: [] } }));
  assert.deepEqual(taken.metadata.labels, { ...labels, ...INITIAL.metadata.labels });
  assert.deepEqual(taken.spec, { taints: [] });
});

test('--node-labels are not added to an existing node, except for zone and instance type', () => {
  const labels = { ...INITIAL.metadata.labels, own: '1', 'topology.kubernetes.io/zone': 'z' };
  const initial = { ...INITIAL, metadata: { ...INITIAL.metadata, labels } };
  const { own: _, ...wanted } = labels;
  assert.deepEqual(take(existing({}), initial).metadata.labels, wanted);
});

test('the attach-detach annotation follows the setting, and other annotations are kept', () => {
  const annotations = { a: '1' };
  assert.deepEqual(take(existing({ metadata: { annotations } })).metadata.annotations, { a: '1', [ATTACHES]: 'true' });
  const without = { ...INITIAL, metadata: { ...INITIAL.metadata, annotations: {} } };
  const attached = existing({ metadata: { annotations: { a: '1', [ATTACHES]: 'true' } } });
  assert.deepEqual(take(attached, without).metadata.annotations, annotations);
});

test('huge pages are updated: new sizes are added, and sizes the host no longer has are removed', () => {
  const pages = (amounts: Record<string, string>): NodeStatus => ({
    capacity: { ...INITIAL.status?.capacity, ...amounts },
    allocatable: { ...INITIAL.status?.allocatable, ...amounts },
  });
  const initial = { ...INITIAL, status: { ...INITIAL.status, ...pages({ 'hugepages-2Mi': '4Mi' }) } };
  const { status } = take(existing({ status: pages({ 'hugepages-1Gi': '1Gi' }) }), initial);
  assert.deepEqual(status?.capacity, initial.status.capacity);
  assert.deepEqual(status?.allocatable, initial.status.allocatable);
  const same = existing({ status: pages({ 'hugepages-2Mi': '4096Ki' }) });
  assert.equal(take(same, initial), same);
});

test('with resetExtendedResources, extended resources are zeroed until their plugins register', () => {
  const amounts = { cpu: '1', 'example.com/gpu': '2', 'kubernetes.io/own': '3' };
  const node = existing({ status: { capacity: amounts, allocatable: amounts } });
  assert.equal(take(node), node);
  const reset = take(node, INITIAL, true).status;
  assert.deepEqual([reset?.capacity, reset?.allocatable], Array(2).fill({ ...amounts, 'example.com/gpu': '0' }));
});

test('a Node object without capacity gets all quantities', () => {
  const node = existing({ status: { capacity: undefined, allocatable: undefined } });
  const { status } = take(node);
  assert.deepEqual([status?.capacity, status?.allocatable], [INITIAL.status?.capacity, INITIAL.status?.allocatable]);
});
