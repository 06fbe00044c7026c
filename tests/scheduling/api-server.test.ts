/** The scheduler with an API server: its writes are accepted and visible to other clients. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import type { KubeObject, Pod } from '@podwright/kube-api';
import { createKubeClient, EVENTS, type KubeClient, NODES, PODS, readKubeconfig } from '@podwright/kube-client';
import { startScheduler } from '@podwright/scheduling';
import { type Cluster, startOwnCluster } from '../cluster/cluster.fixture.ts';

const scratch = mkdtempSync(join(tmpdir(), 'pw-scheduling-'));
const stop = new AbortController();
const NAMESPACE = 'default';
const PRIORITY_CLASSES = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
};
let cluster: Cluster;
let client: KubeClient;
let ended: Promise<void>;

before(async () => {
  ({ cluster } = await startOwnCluster());
  writeFileSync(join(scratch, 'kubeconfig'), cluster.kubeconfig(cluster.adminCredential()), { mode: 0o600 });
  client = createKubeClient(await readKubeconfig(join(scratch, 'kubeconfig')));
  const running = startScheduler({ client, logger: silentLogger, signal: stop.signal });
  ended = running.ended;
  await running.synced;
  await client.create(PRIORITY_CLASSES, {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'vip' },
    value: 1000,
  } as KubeObject);
  await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
  // the API server's pod-binding controller skips nodes that have a condition whose type ends in `Pressure`
  const conditions = [
    { type: 'Ready', status: 'True' },
    { type: 'example.org/TestPressure', status: 'True' },
  ];
  const status = { conditions, allocatable: { cpu: '2', memory: '4Gi', pods: '110' } };
  await client.patch(NODES, { name: 'n' }, { type: 'merge', body: { status }, subresource: 'status' });
  const body = { spec: { taints: null } };
  await client.patch(NODES, { name: 'n' }, { type: 'merge', body });
});

after(async () => {
  stop.abort();
  await ended;
  client?.close();
  await cluster?.[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true });
});

const place = (name: string) => ({ namespace: NAMESPACE, name });
const pod = (name: string) => client.get<Pod>(PODS, place(name));

function create(name: string, cpu: string, spec: Partial<Pod['spec']> = {}): Promise<Pod> {
  const containers = [{ name: 'main', image: 'example.org/a', resources: { requests: { cpu } } }];
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: place(name), spec: { containers, ...spec } };
  return client.create<Pod>(PODS, object as KubeObject);
}

function until<T>(probe: () => Promise<T | undefined>): Promise<T> {
  return waitFor(probe, { intervalMs: 20, signal: AbortSignal.timeout(60_000) });
}

const scheduled = (name: string) =>
  until(async () => {
    const { spec, status } = await pod(name);
    return spec.nodeName === undefined ? undefined : status?.conditions?.find(({ type }) => type === 'PodScheduled');
  });

type ApiEvent = KubeObject & { reason: string; message: string; source: object; involvedObject: { name: string } };

const event = (name: string, reason: string) =>
  until(async () => {
    const { items } = await client.list<ApiEvent>(EVENTS, { namespace: NAMESPACE });
    return items.find((one) => one.involvedObject.name === name && one.reason === reason);
  });

test('a pod gets a node, the condition PodScheduled and an event', async () => {
  await create('a', '500m');
  assert.equal((await scheduled('a'))?.status, 'True');
  const { message, source } = await event('a', 'Scheduled');
  assert.equal(message, 'Successfully assigned default/a to n');
  assert.deepEqual(source, { component: 'default-scheduler' });
});

test('an unschedulable pod reports the reason, and gets its node once another pod is removed', async () => {
  await create('full', '1500m');
  await scheduled('full');
  await create('late', '1');
  const condition = await until(async () => (await pod('late')).status?.conditions?.find(({ reason }) => reason));
  const words =
    '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.';
  assert.deepEqual(
    [condition.type, condition.status, condition.reason, condition.message],
    ['PodScheduled', 'False', 'Unschedulable', words],
  );
  assert.equal((await event('late', 'FailedScheduling')).message, words);
  await client.delete(PODS, place('full'), { gracePeriodSeconds: 0 });
  assert.equal((await scheduled('late'))?.status, 'True');
});

test('a pod with a higher priority class preempts another pod', async () => {
  const { metadata } = await create('vip', '1500m', { priorityClassName: 'vip' });
  const victim = await until(async () => {
    const found = (await client.list<Pod>(PODS, { namespace: NAMESPACE })).items;
    return found.find(({ metadata }) => metadata.deletionTimestamp !== undefined);
  });
  const target = victim.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.equal(target?.reason, 'PreemptionByScheduler');
  const waiting = (await pod('vip')) as Pod & { status: { nominatedNodeName?: string } };
  assert.equal(waiting.status.nominatedNodeName, 'n');
  for (const { metadata } of (await client.list<Pod>(PODS, { namespace: NAMESPACE })).items)
    if (metadata.deletionTimestamp !== undefined)
      await client.delete(PODS, place(metadata.name), { gracePeriodSeconds: 0 }); // as its kubelet would
  assert.equal((await scheduled('vip'))?.status, 'True');
  const { message } = await event(victim.metadata.name, 'Preempted');
  assert.equal(message, `Preempted by pod ${metadata.uid} on node n`);
});

test('a gated pod waits until its gates are removed', async () => {
  await create('gated', '0', { schedulingGates: [{ name: 'example.org/g' }] });
  await create('next', '0');
  await scheduled('next');
  assert.equal((await pod('gated')).spec.nodeName, undefined);
  const body = { spec: { schedulingGates: null } };
  await client.patch(PODS, place('gated'), { type: 'merge', body });
  assert.equal((await scheduled('gated'))?.status, 'True');
});
