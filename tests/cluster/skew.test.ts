/** A kubelet with API servers of other minor versions, simulated by altering responses: the node is ready, and pods run and end. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { type ApiObject, pathOf, startOwnCluster } from './cluster.fixture.ts';
import { startNode } from './node-kubelet.fixture.ts';
import type { OwnControlPlane } from './own-control-plane.fixture.ts';

const NODE = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };

const isReady = ({ status }: ApiObject) =>
  (status as Pod['status'])?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;

const podOf = (name: string, spec: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    nodeName: 'n1',
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: 'busybox:1' }],
    ...spec,
  },
});

async function begin(t: TestContext, disturb: (server: OwnControlPlane) => void) {
  const { cluster, own: server } = await startOwnCluster();
  t.after(() => cluster[Symbol.asyncDispose]());
  disturb(server);
  await startNode(t, { place: server, credential: cluster.nodeCredential('n1') });
  const runs = async (pod: ApiObject) => {
    await cluster.apply(pod);
    return await cluster.until(pod, isReady);
  };
  return { server, cluster, runs };
}

const NO_WATCH_LIST = {
  kind: 'status',
  code: 422,
  reason: 'Invalid',
  message: 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
} as const;
const MISSING = { kind: 'status', code: 404, body: '404 page not found\n' } as const;
const DRA = ['resourceslices', 'resourceclaims'];
const NOT_OURS = ['runtimeclasses', 'csidrivers'];

const SERVERS: [
  what: string,
  disturb: (server: OwnControlPlane) => void,
  counted: { resource: string; most: number },
][] = [
  [
    'without WatchList',
    ({ faults }) => void faults.add(NO_WATCH_LIST, { verb: 'watch', query: 'sendInitialEvents' }),
    { resource: 'services', most: 3 }, // a rejected watch, a list, a watch from its version
  ],
  [
    'without resource.k8s.io',
    ({ faults }) => DRA.forEach((resource) => void faults.add(MISSING, { resource })),
    { resource: 'resourceslices', most: 2 },
  ],
  [
    'that forbids nodes to read RuntimeClasses and CSIDrivers',
    ({ faults }) => {
      for (const resource of NOT_OURS) faults.add({ kind: 'status', code: 403, reason: 'Forbidden' }, { resource });
    },
    { resource: 'runtimeclasses', most: 6 },
  ],
];

for (const [what, disturb, { resource, most }] of SERVERS)
  test(`an API server ${what}`, async (t) => {
    const { server, cluster, runs } = await begin(t, disturb);
    await cluster.until(NODE, isReady);
    const pod = podOf('web');
    await runs(pod);
    const requests = server.requests.all.filter((one) => one.resource === resource);
    assert.ok(requests.length <= most, `${requests.length} requests for ${resource}`);
    await cluster.delete(pod);
    await cluster.untilGone(pod);
  });

test('a forbidden RuntimeClass only delays pods that use it, and is used once access is granted', async (t) => {
  const refused = { kind: 'status', code: 403, reason: 'Forbidden' } as const;
  const { server, cluster, runs } = await begin(t, ({ faults }) => {
    faults.add(refused, { resource: 'runtimeclasses', user: 'system:node:n1' });
  });
  await cluster.apply({
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: 'fast' },
    handler: 'runc',
  });
  const named = podOf('named', { runtimeClassName: 'fast' });
  await cluster.apply(named);
  await runs(podOf('plain'));
  const { status } = (await cluster.find(named))!;
  assert.equal((status as Pod['status'])!.phase, 'Pending');
  server.faults.clear();
  await cluster.until(named, isReady);
});

/** Alters a Node as if it came from an API server two minor versions newer. */
function newerNode(node: ApiObject): ApiObject {
  const { spec, status } = node as { spec?: { taints?: object[] }; status?: { conditions?: object[] } };
  const taints = [...(spec?.taints ?? []), { key: 'new', effect: 'NoBreath', newField: true }];
  const conditions = [...(status?.conditions ?? []), { type: 'NewPressure', status: 'Perhaps', newField: 1 }];
  return { ...node, spec: { ...spec, newField: { a: 1 }, taints }, status: { ...status, newPart: [1], conditions } };
}

/** Alters a pod as if it came from an API server two minor versions newer. */
function newerPod(pod: ApiObject): ApiObject {
  const { containers = [], ...spec } = pod.spec as { containers?: object[] };
  const newer = {
    newField: { deep: [{ b: null }] },
    tolerations: [{ key: 'new', operator: 'Near', effect: 'NoBreath' }],
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'TryHard', newField: 1 }],
    containers: containers.map((one) => ({ ...one, newField: 'x', securityContext: { newField: {} } })),
  };
  return { ...pod, spec: { ...spec, ...newer } };
}

test('objects from an API server two minor versions newer: unknown fields, values, conditions and resources', async (t) => {
  const user = 'system:node:n1';
  const { server, cluster, runs } = await begin(t, ({ faults }) => {
    faults.add({ kind: 'replace-objects', by: newerNode }, { user, resource: 'nodes' });
    faults.add({ kind: 'replace-objects', by: newerNode }, { user, resource: 'nodes/status' });
    faults.add({ kind: 'replace-objects', by: newerPod }, { user, resource: 'pods' });
  });
  await cluster.until(NODE, isReady);
  const pod = podOf('newer');
  await runs(pod);
  await cluster.delete(pod);
  await cluster.untilGone(pod);
  const writes = server.requests.all.filter((one) => one.user === user && one.verb === 'patch');
  assert.ok(writes.some(({ resource }) => resource === 'nodes/status') && writes.length > 1);
  for (const { body, resource } of writes)
    assert.doesNotMatch(body, /newField|newPart|NoBreath|Perhaps|delete/, resource);
});

test('a pod scheduled by a label that its node receives later still runs', async (t) => {
  const { cluster, runs } = await begin(t, ({ faults }) => {
    faults.add({ kind: 'delay-events', ms: 1000 }, { verb: 'watch', resource: 'nodes' });
  });
  await cluster.until(NODE, isReady);
  await cluster.admin.patch(pathOf(NODE), 'merge', { metadata: { labels: { disk: 'ssd' } } });
  const pod = podOf('picky', { nodeSelector: { disk: 'ssd' } });
  await runs(pod);
  await cluster.delete(pod);
  await cluster.untilGone(pod);
});
