/** Tests the lifecycle of nodes in virtual time: heartbeats stop, clocks are changed, the controller's process is suspended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { Lease, Node, Pod, Taint, Toleration } from '@podwright/kube-api';
import { LEASES, NODES, PODS } from '@podwright/kube-client';
import type { ControllerParts } from '../framework/controller.ts';
import { SimServer } from '../framework/sim-server.fixture.ts';
import { testPod } from '../pods/test-pod.fixture.ts';
import { AwakeClock } from './awake-clock.ts';
import { NodeMonitor } from './node-monitor.ts';
import { TaintEvictor } from './taint-eviction-controller.ts';

const DEFAULT_TOLERATIONS: Toleration[] = ['not-ready', 'unreachable'].map((name) => ({
  ...{ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect: 'NoExecute' },
  tolerationSeconds: 300,
}));

class Cluster {
  readonly server = new SimServer();
  readonly events: string[] = [];
  monotonicMs = 0;
  unixMs = Date.parse('2026-01-01T00:00:00Z');
  /** Nodes whose kubelets send heartbeats. */
  readonly reporting = new Set<string>();
  readonly #monitor: NodeMonitor;
  readonly #evictor: TaintEvictor;
  readonly #deliver: () => boolean;
  #beats = 0;

  constructor(...names: string[]) {
    for (const name of names) this.node(name);
    const { client, objects, deliver } = this.server.connect();
    this.#deliver = deliver;
    const event = (_: object, _type: string, reason: string, message: string) =>
      void this.events.push(`${reason}: ${message}`);
    const parts: ControllerParts = {
      ...{ client, objects, logger: silentLogger, signal: new AbortController().signal },
      events: () => ({ event }),
      now: () => this.unixMs,
    };
    const clock = new AwakeClock(() => this.monotonicMs);
    this.#monitor = new NodeMonitor(parts, () => clock.now());
    this.#evictor = new TaintEvictor(parts, () => clock.now());
    for (const resource of [NODES, LEASES, PODS]) objects.of(resource);
  }

  node(name: string, status: 'True' | 'False' = 'True'): void {
    const conditions = [{ type: 'Ready', status, lastHeartbeatTime: '2026-01-01T00:00:00Z' }];
    this.server.put<Node>(NODES, { metadata: { name }, spec: {}, status: { conditions } });
    this.reporting.add(name);
    this.#beat(name);
  }

  pod(name: string, node: string, tolerations: Toleration[] = DEFAULT_TOLERATIONS): void {
    const pod = testPod({ name, node, readySinceMs: this.unixMs });
    this.server.put(PODS, { ...pod, spec: { ...pod.spec, tolerations } });
  }

  /**
   * Plays the kubelet of a node that sends heartbeats: renews the node's lease, and reports the node as ready again if it was considered
   * lost.
   */
  #beat(name: string): void {
    const lease: Lease = {
      metadata: { namespace: 'kube-node-lease', name },
      spec: { renewTime: new Date(this.unixMs + this.#beats++).toISOString() },
    };
    this.server.put(LEASES, lease);
    const ready = this.ready(name);
    if (ready?.status !== 'Unknown') return;
    this.server.change<Node>(NODES, { name }, ({ status }) => {
      const lastHeartbeatTime = new Date(this.unixMs).toISOString();
      status!.conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime }];
    });
  }

  async run(seconds: number): Promise<void> {
    for (let second = 1; second <= seconds; second++) {
      this.monotonicMs += 1000;
      this.unixMs += 1000;
      if (second % 10 === 0) for (const name of this.reporting) this.#beat(name);
      this.#deliver();
      if (second % 5 === 0) await this.#monitor.pass();
      this.#deliver();
      await this.#evictor.pass();
    }
    this.#deliver();
  }

  async taint(name: string): Promise<void> {
    this.#deliver();
    await this.#monitor.taint(name);
  }

  stored = (name: string) => this.server.get<Node>(NODES, { name })!;
  ready = (name: string) => this.stored(name).status?.conditions?.find(({ type }) => type === 'Ready');
  taints = (name: string) => (this.stored(name).spec?.taints ?? []).map(textOf).sort();
  isDeleted = (name: string) =>
    this.server.get<Pod>(PODS, { namespace: 'shop', name })?.metadata.deletionTimestamp !== undefined;
  isReady = (name: string) =>
    this.server.get<Pod>(PODS, { namespace: 'shop', name })?.status?.conditions?.find(({ type }) => type === 'Ready')
      ?.status;
}

const textOf = ({ key, effect }: Taint) => `${key.replace('node.kubernetes.io/', '')}:${effect}`;

test('a node that stops reporting becomes unknown, and its pods become not ready and are evicted after their toleration', async () => {
  const cluster = new Cluster('n1', 'n2');
  cluster.pod('a', 'n2');
  cluster.pod('patient', 'n2', [{ operator: 'Exists' }]);
  cluster.pod('impatient', 'n2', []);
  await cluster.run(30);
  cluster.reporting.delete('n2');
  await cluster.run(45);
  assert.equal(cluster.ready('n2')?.status, 'True');
  await cluster.run(20);
  const { status, reason, message } = cluster.ready('n2')!;
  assert.deepEqual([status, reason, message], ['Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.']);
  assert.ok(cluster.events.includes('NodeNotReady: Node n2 status is now: NodeNotReady'));
  assert.equal(cluster.isReady('a'), 'False');
  assert.ok(cluster.events.includes('NodeNotReady: Node is not ready'));
  assert.deepEqual(cluster.taints('n2'), ['unreachable:NoExecute']);
  assert.deepEqual(['a', 'patient', 'impatient'].map(cluster.isDeleted), [false, false, true]);
  await cluster.run(270);
  assert.equal(cluster.isDeleted('a'), false);
  await cluster.run(35);
  assert.deepEqual([cluster.isDeleted('a'), cluster.isDeleted('patient')], [true, false]);
  assert.ok(cluster.events.includes('TaintManagerEviction: Marking for deletion Pod shop/a'));
  assert.deepEqual(cluster.taints('n1'), []);
});

test('a node that reports again loses its taints and keeps its pods', async () => {
  const cluster = new Cluster('n1', 'n2');
  cluster.pod('a', 'n2');
  cluster.reporting.delete('n2');
  await cluster.run(200);
  assert.deepEqual(cluster.taints('n2'), ['unreachable:NoExecute']);
  cluster.reporting.add('n2');
  await cluster.run(400);
  assert.equal(cluster.ready('n2')?.status, 'True');
  assert.deepEqual(cluster.taints('n2'), []);
  assert.equal(cluster.isDeleted('a'), false);
  assert.ok(cluster.events.includes('TaintManagerEviction: Cancelling deletion of Pod shop/a'));
});

test('a lone node that stops reporting keeps its pods', async () => {
  const cluster = new Cluster('n1');
  cluster.pod('a', 'n1', []);
  cluster.reporting.delete('n1');
  await cluster.run(3600);
  assert.equal(cluster.ready('n1')?.status, 'Unknown');
  assert.deepEqual([cluster.taints('n1'), cluster.isDeleted('a')], [[], false]);
});

for (const [what, sleep] of [
  ['the machine is suspended, also if its monotonic clock goes on', { monotonicMs: 36e5, unixMs: 36e5 }],
  ['the machine is suspended', { monotonicMs: 0, unixMs: 36e5 }],
  ['the clock is set forward', { monotonicMs: 0, unixMs: 4e9 }],
  ['the clock is set back', { monotonicMs: 0, unixMs: -4e9 }],
] as const)
  test(`no node is lost and no pod evicted if ${what}`, async () => {
    const cluster = new Cluster('n1', 'n2');
    cluster.pod('a', 'n1');
    cluster.pod('b', 'n2');
    await cluster.run(38);
    for (let round = 0; round < 20; round++) {
      cluster.monotonicMs += sleep.monotonicMs;
      cluster.unixMs += sleep.unixMs;
      await cluster.run(38);
    }
    for (const name of ['n1', 'n2'])
      assert.deepEqual([cluster.ready(name)?.status, cluster.taints(name)], ['True', []]);
    assert.deepEqual([cluster.isDeleted('a'), cluster.isDeleted('b')], [false, false]);
    assert.ok(!cluster.events.some((event) => event.startsWith('NodeNotReady')));
  });

test('toleration time does not elapse while the process sleeps', async () => {
  const cluster = new Cluster('n1', 'n2');
  cluster.pod('a', 'n2');
  cluster.reporting.delete('n2');
  await cluster.run(200);
  cluster.monotonicMs += 36e5;
  cluster.unixMs += 36e5;
  await cluster.run(20);
  assert.equal(cluster.isDeleted('a'), false);
  cluster.reporting.add('n2');
  await cluster.run(400);
  assert.equal(cluster.isDeleted('a'), false);
});

test('a node whose kubelet has never reported becomes unknown after a minute', async () => {
  const cluster = new Cluster('n1');
  cluster.server.put<Node>(NODES, { metadata: { name: 'n2' }, spec: {} });
  await cluster.run(60);
  assert.equal(cluster.ready('n2'), undefined);
  await cluster.run(10);
  const conditions = cluster.stored('n2').status!.conditions!;
  assert.deepEqual(
    conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
    ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => `${type} Unknown NodeStatusNeverUpdated`),
  );
});

test('a node reporting not ready gets the corresponding taint', async () => {
  const cluster = new Cluster('n1', 'n2');
  cluster.node('n2', 'False');
  await cluster.run(20);
  assert.deepEqual(cluster.taints('n2'), ['not-ready:NoExecute']);
});

test('node conditions and cordoning become NoSchedule taints', async () => {
  const cluster = new Cluster('n1');
  const conditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'].map((type) => ({
    ...{ type, status: 'True' as const },
  }));
  const other = { key: 'own', effect: 'NoSchedule' };
  cluster.server.change<Node>(NODES, { name: 'n1' }, (node) => {
    node.spec = { unschedulable: true, taints: [other, { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] };
    node.status!.conditions!.push(...conditions);
  });
  await cluster.taint('n1');
  const all = ['disk-pressure', 'memory-pressure', 'network-unavailable', 'own', 'pid-pressure', 'unschedulable'];
  assert.deepEqual(
    cluster.taints('n1'),
    all.map((key) => `${key}:NoSchedule`),
  );
  cluster.server.change<Node>(NODES, { name: 'n1' }, (node) => {
    node.spec!.unschedulable = false;
    node.status!.conditions = node.status!.conditions!.slice(0, 1);
  });
  await cluster.taint('n1');
  assert.deepEqual(cluster.taints('n1'), ['own:NoSchedule']);
});

test('nodes in a zone are tainted one after another, and not at all if most of a small zone is lost', async () => {
  const names = ['n1', 'n2', 'n3', 'n4', 'n5'];
  const cluster = new Cluster(...names);
  for (const name of ['n1', 'n2']) cluster.reporting.delete(name);
  await cluster.run(60);
  const tainted = () => names.filter((name) => cluster.taints(name).length > 0).length;
  assert.equal(tainted(), 1);
  await cluster.run(10);
  assert.equal(tainted(), 2);
  for (const name of ['n3', 'n4']) cluster.reporting.delete(name);
  await cluster.run(120);
  assert.equal(cluster.ready('n4')?.status, 'Unknown');
  assert.equal(tainted(), 2);
  cluster.reporting.delete('n5');
  await cluster.run(120);
  assert.equal(tainted(), 0, 'no node is ready: the fault may be here');
});

test('a recreated node gets a new grace period', async () => {
  const cluster = new Cluster('n1', 'n2');
  cluster.reporting.delete('n2');
  await cluster.run(45);
  cluster.server.end(NODES, { name: 'n2' });
  await cluster.run(5);
  assert.ok(cluster.events.includes('RemovingNode: Node n2 event: Removing Node n2 from Controller'));
  cluster.node('n2');
  await cluster.run(20);
  assert.equal(cluster.ready('n2')?.status, 'True');
});
