import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import type { KubeObject, Pod } from '@podwright/kube-api';
import { EVENTS, NODES, PERSISTENT_VOLUME_CLAIMS, PODS, STORAGE_CLASSES } from '@podwright/kube-client';
import { type FakeCall, FakeKubeClient, refusal } from '@podwright/kube-client/testing';
import { testNode, testPod } from './cluster/test-objects.fixture.ts';
import { startScheduler } from './start-scheduler.ts';

type Binding = KubeObject & { target: { name: string } };

/** A cluster whose API server assigns pods when they are bound. */
class TestCluster implements AsyncDisposable {
  readonly client = new FakeKubeClient();
  readonly #stop = new AbortController();
  #ended: Promise<void> | undefined;

  async start(): Promise<void> {
    const assign = ({ key, body }: FakeCall) => {
      const pod = this.client.stored<Pod>(PODS, key!)!;
      this.client.put(PODS, { ...pod, spec: { ...pod.spec, nodeName: (body as Binding).target.name } });
      return {};
    };
    this.client.script({ verb: 'create', subresource: 'binding' }, ...Array.from({ length: 50 }, () => assign));
    const { synced, ended } = startScheduler({ client: this.client, logger: silentLogger, signal: this.#stop.signal });
    this.#ended = ended;
    await synced;
  }

  pod(name: string): Pod {
    return this.client.stored<Pod>(PODS, { namespace: 'default', name })!;
  }

  until<T>(probe: () => T | undefined | false): Promise<T> {
    return waitFor(() => probe() || undefined, { intervalMs: 2, signal: AbortSignal.timeout(20_000) });
  }

  async node(name: string): Promise<string> {
    return this.until(() => this.pod(name).spec.nodeName);
  }

  /** Waits for an event with this reason, and returns its message. */
  async event(reason: string): Promise<string> {
    const list = () => this.client.callsOf({ verb: 'create', plural: EVENTS.plural });
    const find = () => list().map(({ body }) => body as { reason: string; message: string });
    return this.until(() => find().find((event) => event.reason === reason)?.message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }
}

async function clusterWith(...pods: Pod[]): Promise<TestCluster> {
  const cluster = new TestCluster();
  cluster.client.put(NODES, testNode('n'));
  for (const pod of pods) cluster.client.put(PODS, pod);
  await cluster.start();
  return cluster;
}

const message = (pod: Pod) => pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;

test('a pod is bound to a node, with an event', async () => {
  await using cluster = await clusterWith(testPod('a'));
  assert.equal(await cluster.node('a'), 'n');
  const [call] = cluster.client.callsOf({ verb: 'create', subresource: 'binding' });
  assert.deepEqual(call!.body, {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { namespace: 'default', name: 'a', uid: 'uid-a' },
    target: { apiVersion: 'v1', kind: 'Node', name: 'n' },
  });
  assert.equal(await cluster.event('Scheduled'), 'Successfully assigned default/a to n');
});

test('pods that arrive together are not assigned to the same space', async () => {
  const pods = Array.from({ length: 5 }, (_, index) => testPod(`p${index}`, { requests: { cpu: '500m' } }));
  await using cluster = await clusterWith(...pods);
  const waiting = await cluster.until(() => {
    const left = pods.filter(({ metadata }) => message(cluster.pod(metadata.name)) !== undefined);
    return left.length === 1 && left;
  });
  assert.equal(pods.filter(({ metadata }) => cluster.pod(metadata.name).spec.nodeName === 'n').length, 4);
  const { name } = waiting[0]!.metadata;
  const text =
    '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.';
  const condition = cluster.pod(name).status?.conditions?.[0];
  assert.deepEqual(
    [condition?.type, condition?.status, condition?.reason, condition?.message],
    ['PodScheduled', 'False', 'Unschedulable', text],
  );
  assert.equal(await cluster.event('FailedScheduling'), text);
  const other = pods.find((pod) => pod.metadata.name !== name)!;
  cluster.client.remove(PODS, { namespace: 'default', name: other.metadata.name });
  assert.equal(await cluster.node(name), 'n');
});

test('pods that have other schedulers or scheduling gates, or are terminating or finished, are ignored', async () => {
  await using cluster = await clusterWith(
    testPod('other', { spec: { schedulerName: 'mine' } }),
    testPod('gated', { spec: { schedulingGates: [{ name: 'g' }] } }),
    testPod('ending', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    testPod('ended', { status: { phase: 'Failed' } }),
    testPod('ours', { spec: { schedulerName: 'default-scheduler' } }),
  );
  await cluster.node('ours');
  assert.equal(cluster.client.callsOf({ verb: 'create', subresource: 'binding' }).length, 1);
  cluster.client.put(PODS, testPod('gated'));
  assert.equal(await cluster.node('gated'), 'n');
});

test('lower-priority pods are preempted, and the node is reserved for the pod', async () => {
  const low = testPod('low', { requests: { cpu: '2' }, spec: { nodeName: 'n', priority: 0 } });
  await using cluster = await clusterWith(low, testPod('vip', { requests: { cpu: '1' }, spec: { priority: 10 } }));
  assert.equal(await cluster.node('vip'), 'n');
  const patches = cluster.client.callsOf({ verb: 'patch', subresource: 'status' });
  const statusOf = (name: string) =>
    patches.filter(({ key }) => key?.name === name).map(({ body }) => (body as { status: Pod['status'] }).status);
  assert.deepEqual(
    statusOf('low').map((status) => status?.conditions?.[0]?.message),
    ['default-scheduler: preempting to accommodate a higher priority pod'],
  );
  assert.equal((statusOf('vip')[0] as { nominatedNodeName?: string }).nominatedNodeName, 'n');
  const [deletion] = cluster.client.callsOf({ verb: 'delete', plural: 'pods' });
  assert.deepEqual([deletion?.key?.name, deletion?.how?.preconditions], ['low', { uid: 'uid-low' }]);
  assert.equal(await cluster.event('Preempted'), 'Preempted by pod uid-vip on node n');
});

test('a failed binding is retried, and releases its space meanwhile', async () => {
  const cluster = new TestCluster();
  cluster.client.put(NODES, testNode('n'));
  cluster.client.put(PODS, testPod('a', { requests: { cpu: '2' } }));
  cluster.client.script({ verb: 'create', subresource: 'binding' }, refusal(500, 'InternalError', 'out of order'));
  await using started = cluster;
  await started.start();
  assert.equal(await started.node('a'), 'n');
  assert.match(await started.event('FailedScheduling'), /out of order/);
});

test('a binding that keeps failing is tried again after longer and longer waits', async () => {
  const cluster = new TestCluster();
  cluster.client.put(NODES, testNode('n'));
  cluster.client.put(PODS, testPod('a'));
  const bound: number[] = [];
  const refuse = (code: number, reason: string) => () => {
    bound.push(performance.now());
    throw refusal(code, reason);
  };
  cluster.client.script(
    { verb: 'create', subresource: 'binding' },
    refuse(500, 'InternalError'),
    refuse(404, 'NotFound'), // of an object that the pod needs
  );
  await using started = cluster;
  await started.start();
  assert.equal(await started.node('a'), 'n');
  assert.equal(bound.length, 2);
  assert.ok(bound[1]! - bound[0]! > 900);
  assert.ok(performance.now() - bound[1]! > 1900);
});

test('a pod that ends while it is bound is not bound again', async () => {
  const cluster = new TestCluster();
  cluster.client.put(NODES, testNode('n'));
  const pod = cluster.client.put(PODS, testPod('a'));
  cluster.client.script({ verb: 'create', subresource: 'binding' }, async () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    cluster.client.put(PODS, { ...pod, metadata: { ...pod.metadata, deletionTimestamp } });
    await new Promise((resolve) => setImmediate(resolve));
    throw refusal(500, 'InternalError');
  });
  await using started = cluster;
  await started.start();
  await started.client.waitForCalls({ verb: 'create', subresource: 'binding' });
  started.client.put(PODS, testPod('b'));
  assert.equal(await started.node('b'), 'n');
  const reasons = () =>
    started.client
      .callsOf({ verb: 'create', plural: EVENTS.plural })
      .map(({ body }) => (body as { reason: string }).reason);
  assert.equal(await started.event('Scheduled'), 'Successfully assigned default/b to n');
  assert.deepEqual(reasons(), ['Scheduled']);
});

test('a pod gets the room that a running pod gives up once the node has applied the resize', async () => {
  const sized = (cpu: string, actual: string) =>
    testPod('large', {
      requests: { cpu },
      spec: { nodeName: 'n', containers: [{ name: 'main', image: 'a', resources: { requests: { cpu } } }] } as object,
      status: {
        phase: 'Running',
        containerStatuses: [
          { name: 'main', allocatedResources: { cpu: actual }, resources: { requests: { cpu: actual } } },
        ],
      } as object,
    });
  await using cluster = await clusterWith(sized('1', '2'), testPod('a', { requests: { cpu: '1' } }));
  await cluster.until(() => message(cluster.pod('a')) !== undefined);
  cluster.client.put(PODS, sized('1', '1'));
  assert.equal(await cluster.node('a'), 'n');
});

test('a pod waits until a node is added, is uncordoned or becomes ready', async () => {
  const cluster = new TestCluster();
  cluster.client.put(PODS, testPod('a'));
  await using started = cluster;
  await started.start();
  const says = (text: string) => started.until(() => message(started.pod('a')) === text);
  await says('no nodes available to schedule pods');
  started.client.put(NODES, testNode('n', { spec: { unschedulable: true } }));
  await started.until(() => message(started.pod('a'))?.includes('1 node(s) were unschedulable.'));
  started.client.put(NODES, testNode('n'));
  assert.equal(await started.node('a'), 'n');
});

test('a claim waiting for its first consumer is provisioned for the node before the pod is bound', async () => {
  const cluster = new TestCluster();
  cluster.client.put(NODES, testNode('n'));
  const metadata = { namespace: 'default', name: 'data' };
  cluster.client.put(STORAGE_CLASSES, {
    metadata: { name: 'made' },
    provisioner: 'x',
    volumeBindingMode: 'WaitForFirstConsumer',
  } as KubeObject);
  cluster.client.put(PERSISTENT_VOLUME_CLAIMS, { metadata, spec: { storageClassName: 'made' } } as KubeObject);
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
  cluster.client.put(PODS, testPod('a', { spec: { volumes } as Partial<Pod['spec']> }));
  await using started = cluster;
  await started.start();
  const asked = await started.until(() => {
    const claim = started.client.stored(PERSISTENT_VOLUME_CLAIMS, metadata);
    return claim?.metadata.annotations !== undefined && claim;
  });
  assert.deepEqual(asked.metadata.annotations, { 'volume.kubernetes.io/selected-node': 'n' });
  assert.equal(started.pod('a').spec.nodeName, undefined);
  const annotations = { ...asked.metadata.annotations, 'pv.kubernetes.io/bind-completed': 'yes' };
  const spec = { storageClassName: 'made', volumeName: 'made-1' };
  started.client.put(PERSISTENT_VOLUME_CLAIMS, { metadata: { ...asked.metadata, annotations }, spec } as KubeObject);
  assert.equal(await started.node('a'), 'n');
});
