import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime, type Node, type NodeStatus } from '@podwright/kube-api';
import type { ObservedNode } from './observed-node.ts';
import { AT, registered, seen } from './seen-node.fixture.ts';
import { updateNode } from './update-node.ts';

const LATER = AT + 60_000;
const later = (given: Partial<ObservedNode> = {}) => seen({ atMs: LATER, ...given });
const withStatus = (node: Node, status: NodeStatus): Node => ({ ...node, status: { ...node.status, ...status } });
const ready = ({ status }: Node) => status?.conditions?.find(({ type }) => type === 'Ready');
const reasons = (events: { reason: string }[]) => events.map(({ reason }) => reason);

test('only heartbeats of an unchanged node change', () => {
  const before = registered();
  const { node, changed, events } = updateNode(before, later());
  assert.equal(changed, false);
  assert.deepEqual(events, []);
  const times = node.status?.conditions?.map((one) => [one.lastHeartbeatTime, one.lastTransitionTime]);
  assert.deepEqual(times, Array(4).fill([formatTime(LATER), formatTime(AT)]));
});

test('problems make the node not ready until they are resolved, with all reasons deduplicated', () => {
  const problems = ['container runtime is down', 'CSINode is not yet initialized', 'container runtime is down'];
  const down = updateNode(registered(), later({ problems }));
  assert.deepEqual(ready(down.node), {
    ...{ type: 'Ready', status: 'False', reason: 'KubeletNotReady' },
    message: '[container runtime is down, CSINode is not yet initialized]',
    lastHeartbeatTime: formatTime(LATER),
    lastTransitionTime: formatTime(LATER),
  });
  assert.deepEqual(down.events, [
    { type: 'Normal', reason: 'NodeNotReady', message: 'Node n1 status is now: NodeNotReady' },
  ]);
  const up = updateNode(down.node, later({ atMs: LATER + 1000 }));
  assert.deepEqual([ready(up.node)?.message, up.changed], ['kubelet is posting ready status', true]);
  assert.deepEqual(reasons(up.events), ['NodeReady']);
});

test('a different reason for not being ready is a change, but not a transition', () => {
  const before = registered({ problems: ['a'] });
  const { node, changed, events } = updateNode(before, later({ problems: ['b'] }));
  assert.deepEqual([ready(node)?.message, ready(node)?.lastTransitionTime, changed], ['b', formatTime(AT), true]);
  assert.deepEqual(events, []);
});

test('pressure conditions and their events are set and cleared', () => {
  const pressure = { memory: true, disk: true, pids: true };
  const short = updateNode(registered(), later({ pressure }));
  const conditions = short.node.status?.conditions?.map(({ type, status, reason, message }) => [
    type,
    status,
    reason,
    message,
  ]);
  assert.deepEqual(conditions?.slice(0, 3), [
    ['MemoryPressure', 'True', 'KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
    ['DiskPressure', 'True', 'KubeletHasDiskPressure', 'kubelet has disk pressure'],
    ['PIDPressure', 'True', 'KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
  ]);
  assert.deepEqual(reasons(short.events), [
    'NodeHasInsufficientMemory',
    'NodeHasDiskPressure',
    'NodeHasInsufficientPID',
  ]);
  const fine = updateNode(short.node, later());
  assert.deepEqual(reasons(fine.events), ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID']);
});

test('conditions that a controller has set to Unknown are updated in place, and conditions of other writers are kept', () => {
  const foreign = { type: 'NetworkUnavailable', status: 'False', reason: 'RouteCreated', more: 1 } as const;
  const unknown = registered().status!.conditions!.map((one) => ({
    ...one,
    ...{ status: 'Unknown' as const, reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' },
  }));
  const before = withStatus(registered(), { conditions: [foreign, ...unknown] });
  const { node, events } = updateNode(before, later());
  assert.deepEqual(node.status?.conditions?.[0], foreign);
  assert.deepEqual(
    node.status?.conditions?.map(({ type, status }) => `${type}=${status}`),
    ['NetworkUnavailable=False', 'MemoryPressure=False', 'DiskPressure=False', 'PIDPressure=False', 'Ready=True'],
  );
  assert.equal(events.length, 4);
});

test('a changed boot ID emits Rebooted, the first one does not', () => {
  const next = { ...seen().nodeInfo, bootID: 'b2' };
  const { events, node } = updateNode(registered(), later({ nodeInfo: next }));
  assert.deepEqual(events, [
    { type: 'Warning', reason: 'Rebooted', message: 'Node n1 has been rebooted, boot id: b2' },
  ]);
  assert.equal(node.status?.nodeInfo?.bootID, 'b2');
});

test('unknown fields are preserved, including in the status', () => {
  const before = {
    ...withStatus(registered(), { ...({ volumesAttached: [{ name: 'v' }], phase: 'Running' } as object) }),
    spec: { podCIDR: '10.0.0.0/24', unschedulable: true },
  };
  const { node, changed } = updateNode(before, later());
  assert.deepEqual(node, { ...before, status: node.status });
  assert.deepEqual({ ...node.status, conditions: [] }, { ...before.status, conditions: [] });
  assert.equal(changed, false);
});

test('the os and arch labels are restored', () => {
  const before = registered();
  const { 'kubernetes.io/os': _, ...labels } = before.metadata.labels!;
  const { node, changed } = updateNode({ ...before, metadata: { ...before.metadata, labels } }, later());
  assert.deepEqual([node.metadata.labels, changed], [before.metadata.labels, true]);
});

test('an empty list equals an absent one', () => {
  const { changed } = updateNode(withStatus(registered({ images: [] }), { images: [] }), later({ images: [] }));
  assert.equal(changed, false);
});

test('unknown addresses are kept, and addresses set by a cloud provider are never replaced', () => {
  const known = registered().status?.addresses;
  const of = (given: Partial<ObservedNode>) => updateNode(registered(), later(given)).node.status?.addresses;
  assert.deepEqual(of({ addresses: undefined }), known);
  const [, hostname] = known!;
  assert.deepEqual(of({ addresses: [hostname!] }), [hostname]);
  assert.deepEqual(of({ addresses: [hostname!], externalCloudProvider: true }), known);
});

test('the provided-node-ip annotation follows the setting', () => {
  const node = updateNode(registered(), later({ providedIps: '10.0.0.7' })).node;
  assert.equal(node.metadata.annotations?.['alpha.kubernetes.io/provided-node-ip'], '10.0.0.7');
  assert.deepEqual(updateNode(node, later()).node.metadata, registered().metadata);
});

/** Checks capacity and allocatable after updating a node object that has the status `known`, on a host with the given resources. */
function checkResources(
  { known = {}, ...given }: Partial<ObservedNode> & { known?: NodeStatus },
  expected: { capacity?: Record<string, string>; allocatable?: Record<string, string> },
): void {
  const { node } = updateNode(withStatus(registered(), known), later(given));
  const pick = (from: Record<string, string> = {}, like: Record<string, string> = {}) =>
    Object.fromEntries(Object.keys(like).map((name) => [name, from[name]]));
  const { capacity, allocatable } = node.status!;
  assert.deepEqual(
    { capacity: pick(capacity, expected.capacity), allocatable: pick(allocatable, expected.allocatable) },
    { capacity: {}, allocatable: {}, ...expected },
  );
}

test('allocatable excludes reservations, and its memory excludes huge pages', () => {
  checkResources({ reserved: { cpu: '100m', memory: '1Gi' } }, { allocatable: { cpu: '3900m', memory: '7Gi' } });
  checkResources({ reserved: { memory: '9Gi' } }, { allocatable: { memory: '0' } });
  const pages = { ...seen().capacity, 'hugepages-2Mi': '2Gi', 'hugepages-1Gi': '1Gi' };
  checkResources({ capacity: pages, reserved: {} }, { allocatable: { memory: '5Gi', 'hugepages-2Mi': '2Gi' } });
  checkResources({ reserved: { 'ephemeral-storage': '1' } }, { allocatable: { 'ephemeral-storage': '107374182399' } });
});

test('resources of other writers are kept, and device resources are set', () => {
  const known = { capacity: { 'example.com/dongle': '3' }, allocatable: { 'example.com/gone': '1' } };
  const devices = { capacity: { 'v.com/gpu': '2' }, allocatable: { 'v.com/gpu': '1' } };
  checkResources(
    { known, devices },
    {
      capacity: { 'example.com/dongle': '3', 'v.com/gpu': '2' },
      allocatable: { 'example.com/dongle': '3', 'v.com/gpu': '1' },
    },
  );
  const { allocatable } = updateNode(withStatus(registered(), known), later({ devices })).node.status!;
  assert.equal(allocatable?.['example.com/gone'], undefined);
});

test('equal quantities keep their notation, and invalid quantities are kept', () => {
  checkResources({ known: { capacity: { memory: '8192Mi' } } }, { capacity: { memory: '8192Mi' } });
  checkResources({ known: { capacity: { 'x.com/y': 'many' } } }, { allocatable: { 'x.com/y': 'many' } });
});

test('a node without a required capacity is not ready', () => {
  const { node } = updateNode({ metadata: { name: 'n1' } }, later({ capacity: { cpu: '1', pods: '1' } }));
  assert.equal(ready(node)?.message, 'missing node capacity for resources: memory, ephemeral-storage');
});
