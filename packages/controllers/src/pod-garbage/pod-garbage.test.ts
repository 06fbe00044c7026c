import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { Node, Pod, PodPhase } from '@podwright/kube-api';
import { NODES, PODS } from '@podwright/kube-client';
import { SimServer } from '../framework/sim-server.fixture.ts';
import { decidePodGarbage } from './decide-pod-garbage.ts';
import { PodGarbageCollector } from './pod-garbage-controller.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');

type PodOptions = { phase?: PodPhase; node?: string; isLeaving?: boolean; age?: number; reason?: string };

function pod(name: string, { phase = 'Running', node = 'n1', isLeaving = false, age = 0, reason }: PodOptions): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'shop',
      name,
      uid: `uid-${name}`,
      creationTimestamp: new Date(NOW - age * 1000).toISOString(),
      ...(isLeaving ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: { containers: [], ...(node === '' ? {} : { nodeName: node }) },
    status: { phase, reason },
  };
}

function newNode(name: string, isReady = true, taint?: string): Node {
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  const taints = taint === undefined ? [] : [{ key: taint, effect: 'NoExecute' }];
  return { metadata: { name }, spec: { taints }, status: { conditions } } as unknown as Node;
}

function check(
  pods: Record<string, PodOptions>,
  expected: string[],
  rest: { maxEnded?: number; absent?: number } = {},
) {
  const { absent = 0, maxEnded } = rest;
  const { removals } = decidePodGarbage({
    pods: Object.entries(pods).map(([name, options]) => pod(name, options)),
    nodes: [newNode('n1'), newNode('n2', false, 'node.kubernetes.io/out-of-service'), newNode('n3', false)],
    absentSince: new Map([['n9', NOW - absent * 1000]]),
    nowMs: NOW,
    maxEnded,
  });
  assert.deepEqual(
    removals.map((one) => one.pod.metadata.name),
    expected,
  );
}

test('pods on a node that has been missing for some time are removed', () => {
  const pods = { a: { node: 'n9' }, b: {}, c: { node: '' } };
  check(pods, []);
  check(pods, [], { absent: 39 });
  check(pods, ['a'], { absent: 40 });
});

test('pods that are being deleted are removed if no kubelet stops them', () => {
  const isLeaving = true;
  check({ a: { isLeaving }, b: { isLeaving, node: '' }, c: { isLeaving, node: 'n2' }, d: { isLeaving, node: 'n3' } }, [
    'b',
    'c',
  ]);
  check({ a: { node: 'n2' } }, []);
});

test('ended pods above the limit are removed, evicted ones first, then the oldest', () => {
  const pods: Record<string, PodOptions> = {
    young: { phase: 'Succeeded', age: 1 },
    old: { phase: 'Failed', age: 9 },
    evicted: { phase: 'Failed', age: 0, reason: 'Evicted' },
    running: { age: 20 },
  };
  check(pods, [], { maxEnded: 3 });
  check(pods, ['evicted', 'old'], { maxEnded: 1 });
});

test('a pod on a missing node fails with a reason, unless the server has the node', async () => {
  const server = new SimServer();
  server.put(PODS, { ...pod('a', { node: 'n9' }), metadata: { ...pod('a', {}).metadata, finalizers: ['x/y'] } });
  const { client, objects } = server.connect();
  const parts = {
    client,
    objects,
    logger: silentLogger,
    now: () => server.nowMs,
    signal: new AbortController().signal,
  };
  const collector = new PodGarbageCollector(parts);
  await collector.collect();
  server.nowMs += 40_000;
  objects.of(NODES);
  server.put(NODES, newNode('n9'));
  await collector.collect();
  const phase = () => server.get<Pod>(PODS, { namespace: 'shop', name: 'a' })?.status?.phase;
  assert.equal(phase(), 'Running');
  server.end(NODES, { name: 'n9' });
  await collector.collect();
  assert.equal(phase(), 'Failed');
  const { status, metadata } = server.get<Pod>(PODS, { namespace: 'shop', name: 'a' })!;
  assert.equal(status?.conditions?.[0]?.reason, 'DeletionByPodGC');
  assert.notEqual(metadata.deletionTimestamp, undefined);
});
