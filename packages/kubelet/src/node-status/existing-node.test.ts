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

test('an object that is right is not written', () => {
  const node = existing({ spec: { taints: [{ key: 'of others', effect: 'NoSchedule' }] } });
  assert.equal(take(node), node);
});

test('labels that every node has get their values, others and taints stay as they are', () => {
  const labels = { 'kubernetes.io/hostname': 'other', mine: '1', 'topology.kubernetes.io/zone': 'z' };
  const taken = take(existing({ metadata: { labels }, spec: { taints: [] } }));
  assert.deepEqual(taken.metadata.labels, { ...labels, ...INITIAL.metadata.labels });
  assert.deepEqual(taken.spec, { taints: [] });
});

test('labels of --node-labels are not brought to a node that was there, but for those of zone and type', () => {
  const labels = { ...INITIAL.metadata.labels, own: '1', 'topology.kubernetes.io/zone': 'z' };
  const initial = { ...INITIAL, metadata: { ...INITIAL.metadata, labels } };
  const { own: _, ...wanted } = labels;
  assert.deepEqual(take(existing({}), initial).metadata.labels, wanted);
});

test('the annotation of attaching comes and goes with the setting, others stay', () => {
  const annotations = { a: '1' };
  assert.deepEqual(take(existing({ metadata: { annotations } })).metadata.annotations, { a: '1', [ATTACHES]: 'true' });
  const without = { ...INITIAL, metadata: { ...INITIAL.metadata, annotations: {} } };
  const attached = existing({ metadata: { annotations: { a: '1', [ATTACHES]: 'true' } } });
  assert.deepEqual(take(attached, without).metadata.annotations, annotations);
});

test('huge pages are those of the host: new sizes come, those that it has no more go', () => {
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

test('extended resources are none until their plugins tell of them, if none was ever seen here', () => {
  const amounts = { cpu: '1', 'example.com/gpu': '2', 'kubernetes.io/own': '3' };
  const node = existing({ status: { capacity: amounts, allocatable: amounts } });
  assert.equal(take(node), node);
  const reset = take(node, INITIAL, true).status;
  assert.deepEqual([reset?.capacity, reset?.allocatable], Array(2).fill({ ...amounts, 'example.com/gpu': '0' }));
});

test('an object without amounts gets all of them', () => {
  const node = existing({ status: { capacity: undefined, allocatable: undefined } });
  const { status } = take(node);
  assert.deepEqual([status?.capacity, status?.allocatable], [INITIAL.status?.capacity, INITIAL.status?.allocatable]);
});
