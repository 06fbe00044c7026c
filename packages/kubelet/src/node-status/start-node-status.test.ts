import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { Node } from '@podwright/kube-api';
import { CSI_NODES, NODES } from '@podwright/kube-client';
import { nodeSettings } from '@podwright/kubelet-configuration';
import { eventReasons, mockTime, NodeApi } from './node-api.fixture.ts';
import { startNodeStatus } from './start-node-status.ts';

test('a new node is ready with its first report, which waits for its CSINode', async (t) => {
  const clock = mockTime(t);
  const api = new NodeApi();
  const status = startNodeStatus({
    ...{ name: 'n1', labels: {}, nodeIp: '10.0.0.7', settings: nodeSettings(), registersAgain: false, podCidr: '' },
    facts: {
      ...{
        resources: { cpu: 1000n, memory: 1n << 30n, 'ephemeral-storage': 1n << 30n },
        maxPods: 110,
        port: 10_250,
        declaredFeatures: [],
        runtimeName: 'podwright',
      },
      reserved: { cpuMillis: 0, memoryBytes: 0, ephemeralStorageBytes: 0 },
    },
    sources: {
      abilities: () => undefined,
      pressure: () => ({ memory: false, disk: false, pids: false }),
      devices: () => ({ capacity: {}, allocatable: {} }),
      problems: () => [],
      volumesInUse: () => [],
      onProblems: () => () => undefined,
      nodeKnown: () => undefined,
      restored: () => undefined,
      resetExtendedResources: () => false,
    },
    client: api,
    heartbeatClient: api,
    informer: { get: () => api.stored<Node>(NODES, { name: 'n1' }) },
    cri: {
      runtime: { version: async () => ({ runtimeVersion: '1' }) },
      image: { listImages: async () => ({ images: [] }) },
    } as never,
    events: eventReasons(),
    logger: silentLogger,
  });
  t.after(() => Promise.all([status.stop(), clock.pass(1000)]));
  const ready = () => api.stored<Node>(NODES, { name: 'n1' })?.status?.conditions?.find(({ type }) => type === 'Ready');
  const isReported = () => api.patches.length > 0;
  for (let times = 0; times < 500 && !isReported(); times++) await clock.pass(0); // facts of the host are read
  const writes = api.calls.filter(({ verb, plural }) => verb === 'patch' && plural === NODES.plural);
  assert.deepEqual([ready()?.status, writes.length], ['True', 1]);
  assert.notEqual(api.stored(CSI_NODES, { name: 'n1' }), undefined);
});
