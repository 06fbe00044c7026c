/** A kubelet as a cluster node: the objects that it creates, updates and renews at the API server. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { waitFor, withTimeout } from '@podwright/base';
import { type KubeletOptions, kubeletOptions } from '@podwright/kubelet';
import { type ApiObject, type Cluster, startCluster, startOwnCluster } from './cluster.fixture.ts';
import { startNode } from './node-kubelet.fixture.ts';
import type { OwnControlPlane } from './own-control-plane.fixture.ts';

const NODE = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };
const LEASE = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'n1', namespace: 'kube-node-lease' },
};
const CSI_NODE = { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: { name: 'n1' } };
const SETTINGS = kubeletOptions({ manifestDir: '', runtimeEndpoint: '', nodeName: '', logger: null! }).node;
/** Short intervals for tests: one-second leases, renewed every quarter of a second. */
const HASTY = { ...SETTINGS, statusUpdateMs: 100, statusReportMs: 1000, leaseDurationSeconds: 1 };

type NodeView = ApiObject & {
  spec: { taints?: { key: string }[]; unschedulable?: boolean };
  status: {
    capacity: Record<string, string>;
    conditions: { type: string; status: string; message: string; lastTransitionTime: string }[];
    addresses: { type: string; address: string }[];
    nodeInfo: Record<string, string>;
    daemonEndpoints: object;
    images: { names: string[] }[];
  };
};

const readyOf = (node: ApiObject) => (node as NodeView).status.conditions?.find(({ type }) => type === 'Ready');
const isReady = (node: ApiObject) => readyOf(node)?.status === 'True';

async function begin(t: TestContext, options: Partial<KubeletOptions> = {}) {
  const cluster = await startCluster();
  t.after(() => cluster[Symbol.asyncDispose]());
  const node = await startNode(t, { place: cluster, credential: cluster.nodeCredential('n1'), ...options });
  return { cluster, node, ready: () => untilReady(cluster) };
}

const untilReady = async (cluster: Cluster) => (await cluster.until(NODE, isReady)) as NodeView;

test('a node registers, is ready, and owns its lease and its CSINode', async (t) => {
  const taints = [{ key: 'a', value: 'b', effect: 'NoSchedule' }];
  const { cluster, ready } = await begin(t, { nodeLabels: { zone: 'z' }, node: { ...HASTY, taints } });
  const { metadata, spec, status } = await ready();
  assert.equal(metadata.labels?.['beta.kubernetes.io/os'], 'linux');
  assert.equal(metadata.labels?.zone, 'z');
  assert.deepEqual(
    spec.taints?.filter(({ key }) => key === 'a'),
    taints,
  );
  assert.deepEqual(Object.keys(status.capacity).includes('ephemeral-storage'), true);
  assert.deepEqual(status.daemonEndpoints, { kubeletEndpoint: { Port: 10250 } });
  assert.deepEqual(status.images[0]?.names, ['busybox:1']);
  assert.match(status.nodeInfo.kubeletVersion!, /^v1\.36\.0\+podwright\./);
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: metadata.uid };
  const lease = await cluster.until(LEASE, () => true);
  const csiNode = await cluster.until(CSI_NODE, () => true);
  assert.deepEqual([lease.metadata.ownerReferences, csiNode.metadata.ownerReferences], [[owner], [owner]]);
  const { renewTime } = lease.spec as { renewTime: string };
  await cluster.until(LEASE, (later) => (later.spec as { renewTime: string }).renewTime > renewTime);
});

test('a failing network makes the node not ready at once, regardless of the period', async (t) => {
  const { cluster, node, ready } = await begin(t, { node: { ...SETTINGS, statusUpdateMs: 3_600_000 } });
  await ready();
  node.setNetwork(false);
  const down = await cluster.until(NODE, (object) => !isReady(object));
  assert.match(readyOf(down)?.message ?? '', /^container runtime network not ready: NetworkReady=false/);
  node.setNetwork(true);
  await ready();
});

test('a restarted kubelet adopts its Node object, and does not change fields of other clients', async (t) => {
  const { cluster, node, ready } = await begin(t);
  const before = await ready();
  const labels = { ...before.metadata.labels, 'kubernetes.io/hostname': 'wrong', theirs: '1' };
  const taints = [{ key: 'theirs', effect: 'NoExecute' }];
  await cluster.apply({
    ...before,
    metadata: { ...before.metadata, resourceVersion: undefined, labels },
    spec: { ...before.spec, unschedulable: true, taints },
  });
  await node.restart();
  const after = (await cluster.until(
    NODE,
    ({ metadata }) => metadata.labels?.['kubernetes.io/hostname'] === 'n1',
  )) as NodeView;
  assert.deepEqual([after.metadata.uid, after.metadata.labels?.theirs], [before.metadata.uid, '1']);
  assert.deepEqual([after.spec.unschedulable, after.spec.taints?.some(({ key }) => key === 'theirs')], [true, true]);
  assert.equal(readyOf(after)?.lastTransitionTime, readyOf(before)?.lastTransitionTime);
});

test('a node that never had device plugins removes device resources from its Node object', async (t) => {
  const { cluster, node, ready } = await begin(t);
  await ready();
  const amounts = { 'example.com/widget': '3' };
  const status = { capacity: amounts, allocatable: amounts };
  const answer = await cluster.admin.patch('/api/v1/nodes/n1/status', 'merge', { status });
  assert.ok(answer.status < 300, answer.text);
  await node.restart();
  await cluster.until(NODE, (one) => (one as NodeView).status.capacity['example.com/widget'] === '0');
});

test('a deleted Node object is re-created by the next kubelet, and then owns its CSINode', async (t) => {
  const { cluster, node, ready } = await begin(t, { node: HASTY });
  const before = await ready();
  await cluster.delete(NODE);
  await cluster.untilGone(NODE);
  await node.restart();
  const after = await ready();
  assert.notEqual(after.metadata.uid, before.metadata.uid);
  await cluster.until(CSI_NODE, ({ metadata }) => metadata.ownerReferences?.[0]?.uid === after.metadata.uid);
});

/** Starts a node against an API server, optionally with injected faults. */
async function beginOn(
  t: TestContext,
  disturb: (server: OwnControlPlane) => void,
  given: Partial<KubeletOptions> = {},
) {
  const { cluster, own: server } = await startOwnCluster();
  t.after(() => cluster[Symbol.asyncDispose]());
  disturb(server);
  await startNode(t, { place: server, credential: cluster.nodeCredential('n1'), ...given });
  return { server, ready: () => untilReady(cluster) };
}

const counted = ({ requests }: OwnControlPlane) => {
  const counts: Record<string, number> = {};
  for (const { verb, resource } of requests.all)
    counts[`${verb} ${resource}`] = (counts[`${verb} ${resource}`] ?? 0) + 1;
  return counts;
};

test('an idle node only sends heartbeats, as many as upstream', async (t) => {
  const { server } = await beginOn(t, () => undefined, { node: HASTY });
  // Wait for the requests that a node sends once on startup, in no particular order.
  await server.requests.waitFor({ verb: 'create', resource: 'leases' });
  await server.requests.waitFor({ verb: 'create', resource: 'csinodes' });
  using signal = withTimeout(undefined, 30_000, 'wait for the event NodeReady');
  const events = () => server.requests.of({ verb: 'create', resource: 'events' });
  await waitFor(() => events().some(({ body }) => body.includes('"NodeReady"')) || undefined, {
    intervalMs: 5,
    signal,
  });
  server.requests.clear();
  const begunAt = performance.now();
  await server.requests.waitFor({ verb: 'patch', resource: 'leases' }, { after: 11 });
  const seconds = (performance.now() - begunAt) / 1000;
  const { 'patch leases': leases = 0, 'patch nodes/status': patches = 0, ...others } = counted(server);
  assert.deepEqual(others, {});
  assert.equal(leases <= seconds * 4 + 1, true, `${leases} renewals in ${seconds} s`);
  // The first interval between two status reports may be half as long as the following ones.
  assert.equal(patches >= 1 && patches <= seconds + 2, true, `${patches} reports in ${seconds} s`);
});

test('after the control plane is restored from a backup the node catches up without a burst of requests', async (t) => {
  const { cluster, own: server } = await startOwnCluster();
  t.after(() => cluster[Symbol.asyncDispose]());
  const { runtime } = await startNode(t, { place: server, credential: cluster.nodeCredential('n1'), node: HASTY });
  await untilReady(cluster);
  const pod = (name: string): ApiObject => ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' } },
    spec: { nodeName: 'n1', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'busybox:1' }] },
  });
  const isRunning = ({ status }: ApiObject) => (status as { phase?: string } | undefined)?.phase === 'Running';
  await cluster.apply(pod('kept'));
  const renewals = () => server.requests.of({ verb: 'patch', resource: 'leases' }).length;
  const [backup, renewed] = [await server.backup(), renewals()];
  await cluster.apply(pod('lost'));
  for (const name of ['kept', 'lost']) await cluster.until(pod(name), isRunning);
  using signal = withTimeout(
    undefined,
    30_000,
    'wait for the lease, and for the end of the pod that is not in the backup',
  );
  await waitFor(() => renewals() > renewed || undefined, { intervalMs: 5, signal }); // a restore is detected by the lease's version
  const running = async () =>
    (await runtime.client.runtime.listPodSandbox({})).items
      .filter(({ state }) => state === 0)
      .map(({ metadata }) => metadata?.name)
      .sort();
  assert.deepEqual(await running(), ['kept', 'lost']);
  await server.pause();
  await server.restore(backup);
  server.requests.clear();
  const begunAt = performance.now();
  await server.resume();
  await waitFor(async () => (await running()).join() === 'kept' || undefined, { intervalMs: 20, signal });
  const seconds = (performance.now() - begunAt) / 1000;
  // heartbeats alone make four lease renewals and ten reads per second in this test
  const others = server.requests.all.filter(({ resource, verb }) => resource !== 'leases' && verb !== 'get').length;
  assert.ok(others < 60 + 15 * seconds, `${others} requests in ${seconds} s`);
});

test('requests to a failing server are retried, and a lost response has no effect', async (t) => {
  const { server, ready } = await beginOn(t, ({ faults }) => {
    faults.add({ kind: 'cut-before-headers' }, { verb: 'create', resource: 'nodes', times: 2 });
    faults.add(
      { kind: 'status', code: 409, reason: 'Conflict' },
      { verb: 'patch', resource: 'nodes/status', times: 1 },
    );
  });
  await ready();
  const creations = server.requests.of({ verb: 'create', resource: 'nodes' });
  assert.equal(creations.length >= 3, true);
  assert.equal(creations.at(-1)?.status, 201);
});

test('a Node object whose create request got no response is adopted', async (t) => {
  const { server, ready } = await beginOn(t, ({ faults }) => {
    faults.add({ kind: 'lose-answer' }, { verb: 'create', resource: 'nodes', times: 1 });
  });
  await ready();
  assert.equal(server.requests.of({ verb: 'create', resource: 'nodes' }).at(-1)?.status, 409);
});

test('a node becomes ready on a server without CSINodes', async (t) => {
  const { ready } = await beginOn(t, ({ faults }) => {
    faults.add({ kind: 'status', code: 404 }, { resource: 'csinodes' });
  });
  await ready();
});
