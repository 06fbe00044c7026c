import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeSettings } from '../../../kubelet-configuration/src/options/node-settings.ts';
import { nodeArchitecture } from './host-facts.ts';
import { initialNode } from './initial-node.ts';
import { identity, seen } from './seen-node.fixture.ts';

const ARCH = nodeArchitecture();

test('a node is registered with standard and beta labels, the attach-detach annotation, and its status', () => {
  const { node, events } = initialNode(identity({ labels: { zone: 'z' } }), seen());
  const { status, ...rest } = node;
  assert.deepEqual(rest, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'n1',
      labels: {
        ...{ 'kubernetes.io/hostname': 'n1', 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': ARCH },
        ...{ 'beta.kubernetes.io/os': 'linux', 'beta.kubernetes.io/arch': ARCH, zone: 'z' },
      },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: {},
  });
  assert.deepEqual(
    status?.conditions?.map(({ type }) => type),
    ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'],
  );
  assert.deepEqual(status?.daemonEndpoints, { kubeletEndpoint: { Port: 10250 } });
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'],
  );
});

test('--node-labels override standard labels', () => {
  const { node } = initialNode(identity({ labels: { 'kubernetes.io/arch': 'odd' } }), seen());
  assert.equal(node.metadata.labels?.['kubernetes.io/arch'], 'odd');
});

test('taints, provider id and the uninitialized taint of an external cloud provider are set', () => {
  const taints = [{ key: 'a', effect: 'NoSchedule' }];
  const settings = nodeSettings({ taints, providerId: 'cloud://1', externalCloudProvider: true });
  const { node } = initialNode(identity({ settings }), seen());
  const uninitialized = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
  assert.deepEqual(node.spec, { taints: [...taints, uninitialized], providerID: 'cloud://1' });
});

test('without controllerAttachDetach there is no annotation', () => {
  const { node } = initialNode(identity({ settings: nodeSettings({ controllerAttachDetach: false }) }), seen());
  assert.equal(node.metadata.annotations, undefined);
});
