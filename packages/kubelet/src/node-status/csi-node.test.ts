import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { CsiNode } from '@podwright/kube-api';
import { CSI_NODES, NODES } from '@podwright/kube-client';
import { FakeKubeClient, refusal } from '@podwright/kube-client/testing';
import { CsiNodeStart } from './csi-node.ts';
import { mockTime } from './node-api.fixture.ts';
import { registered } from './seen-node.fixture.ts';

const PLACE = { name: 'n1' };
const OWNER = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'uid-1' };
const MIGRATED = 'storage.alpha.kubernetes.io/migrated-plugins';
const PLUGINS = 'aws-ebs azure-disk azure-file cinder gce-pd portworx-volume vsphere-volume'
  .split(' ')
  .map((name) => `kubernetes.io/${name}`)
  .join(',');

function begin(t: TestContext, api = new FakeKubeClient(), registered = Promise.resolve()) {
  const clock = mockTime(t);
  const controller = new AbortController();
  t.after(() => controller.abort());
  let changes = 0;
  const onChange = () => {
    changes++;
  };
  const start = new CsiNodeStart({ name: 'n1', client: api, registered, onChange, logger: silentLogger });
  void start.run(controller.signal);
  const verbs = () => api.calls.splice(0).map(({ verb, plural }) => `${verb} ${plural}`);
  return { api, clock, start, verbs, changes: () => changes, stored: () => api.stored<CsiNode>(CSI_NODES, PLACE) };
}

const OPTIONS = { name: 'n1', onChange: () => undefined, logger: silentLogger };

const known = (metadata: CsiNode['metadata'] = {}): CsiNode => ({
  ...{ apiVersion: 'storage.k8s.io/v1', kind: 'CSINode' },
  metadata: { name: 'n1', ownerReferences: [OWNER], annotations: { [MIGRATED]: PLUGINS }, ...metadata },
  spec: { drivers: [{ name: 'd', nodeID: 'x', topologyKeys: null }] },
});

test('the CSINode is created for the node, which is not ready before', async (t) => {
  const api = new FakeKubeClient();
  api.put(NODES, registered());
  const { clock, start, verbs, changes, stored } = begin(t, api);
  assert.equal(start.problem(), 'CSINode is not yet initialized');
  await clock.pass(10);
  assert.deepEqual(verbs(), ['get csinodes', 'get nodes', 'get csinodes', 'create csinodes']);
  assert.deepEqual([start.problem(), changes()], [undefined, 1]);
  const { metadata, spec } = stored()!;
  assert.deepEqual([metadata.ownerReferences, metadata.annotations], [[OWNER], { [MIGRATED]: PLUGINS }]);
  assert.deepEqual(spec, { drivers: null });
});

test('a missing CSINode is created after the node is registered, an existing one needs no wait', async (t) => {
  const api = new FakeKubeClient();
  const registering = Promise.withResolvers<void>();
  const { clock, start, verbs } = begin(t, api, registering.promise);
  await clock.pass(5000);
  assert.deepEqual(verbs(), ['get csinodes']);
  api.put(NODES, registered());
  registering.resolve();
  await clock.pass(10);
  assert.deepEqual([verbs().length, start.problem()], [3, undefined]);
  api.put(CSI_NODES, known());
  const again = new CsiNodeStart({ ...OPTIONS, client: api, registered: new Promise(() => undefined) });
  await again.run(AbortSignal.timeout(30_000));
  assert.equal(again.problem(), undefined);
});

test('an up-to-date CSINode is not written, even if its plugins are in a different order', async (t) => {
  const api = new FakeKubeClient();
  api.put(NODES, registered());
  api.put(CSI_NODES, known({ annotations: { [MIGRATED]: PLUGINS.split(',').reverse().join(',') } }));
  const { clock, start, verbs } = begin(t, api);
  await clock.pass(10);
  assert.deepEqual(verbs(), ['get csinodes', 'get nodes', 'get csinodes']);
  assert.equal(start.problem(), undefined);
});

test('only the annotation of an existing CSINode is updated', async (t) => {
  const api = new FakeKubeClient();
  api.put(NODES, registered());
  const before = api.put(CSI_NODES, known({ annotations: { a: '1', [MIGRATED]: 'kubernetes.io/rbd' } }));
  const { clock, stored } = begin(t, api);
  await clock.pass(10);
  assert.deepEqual(stored()?.metadata.annotations, { a: '1', [MIGRATED]: PLUGINS });
  assert.deepEqual(stored()?.spec, before.spec);
});

test('the CSINode of an earlier node with the same name is deleted and re-created', async (t) => {
  const api = new FakeKubeClient();
  api.put(NODES, registered());
  api.put(CSI_NODES, known({ ownerReferences: [{ ...OWNER, uid: 'before' }] }));
  const { clock, start, stored } = begin(t, api);
  await clock.pass(50);
  assert.deepEqual(
    [start.problem(), stored()?.spec.drivers, stored()?.metadata.ownerReferences],
    [undefined, null, [OWNER]],
  );
});

test('without a Node object creation is tried four times per round, with growing pauses between rounds, indefinitely', async (t) => {
  const { api, clock, start, verbs, changes } = begin(t);
  await clock.pass(400);
  assert.deepEqual(verbs(), ['get csinodes', ...Array(8).fill('get nodes')].slice(0, 6));
  const why = 'caused by: fake call: nodes "n1" not found';
  const failure = `error updating CSINode annotation: timed out waiting for the condition; ${why}`;
  assert.equal(start.problem(), `failed to initialize CSINode: ${failure}`);
  await clock.pass(300_000);
  assert.equal(verbs().length, 4 * 7 - 5);
  assert.equal(changes(), 1);
  api.put(NODES, registered());
  await clock.pass(130_000);
  assert.deepEqual([start.problem(), changes()], [undefined, 2]);
});

test('waiting for a server that rejects reads does not use up retries', async (t) => {
  const api = new FakeKubeClient();
  api.put(NODES, registered());
  api.script({ verb: 'get', plural: 'csinodes' }, ...Array.from({ length: 300 }, () => refusal(403, 'Forbidden')));
  const { clock, start, verbs } = begin(t, api);
  await clock.pass(299_000);
  assert.deepEqual([verbs().length, start.problem()], [300, 'CSINode is not yet initialized']);
  await clock.pass(1010);
  assert.equal(start.problem(), undefined);
});

test('an API server without the CSINode resource requires no CSINode for readiness', async (t) => {
  const api = new FakeKubeClient();
  api.put(NODES, registered());
  api.script({ verb: 'create', plural: 'csinodes' }, refusal(404, ''));
  const { clock, start } = begin(t, api);
  await clock.pass(10);
  assert.equal(start.problem(), undefined);
});
