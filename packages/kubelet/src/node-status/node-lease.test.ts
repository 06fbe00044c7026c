import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { Lease } from '@podwright/kube-api';
import { LEASES, NODES } from '@podwright/kube-client';
import { FakeKubeClient, refusal } from '@podwright/kube-client/testing';
import { mockTime } from './node-api.fixture.ts';
import { NodeLease } from './node-lease.ts';
import { registered } from './seen-node.fixture.ts';

const PLACE = { namespace: 'kube-node-lease', name: 'n1' };
const OWNER = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'uid-1' };
/** Expected interval between lease renewals: a quarter of the lease duration, plus the jitter that a Math.random of 0.5 yields. */
const PERIOD_MS = 10_200;

function begin(t: TestContext, api = new FakeKubeClient()) {
  const clock = mockTime(t);
  const controller = new AbortController();
  t.after(() => controller.abort());
  const logger = silentLogger;
  const restores = { count: 0 };
  const lease = new NodeLease({
    name: 'n1',
    heartbeatClient: api,
    timeoutMs: 10_000,
    leaseDurationSeconds: 40,
    onRestored: () => void restores.count++,
    logger,
  });
  void lease.run(controller.signal);
  const verbs = () => api.calls.splice(0).map(({ verb, plural }) => `${verb} ${plural}`);
  return { api, clock, verbs, restores, stored: () => api.stored<Lease>(LEASES, PLACE) };
}

const kept = (spec: Lease['spec'], more: Partial<Lease['metadata']> = {}): Lease => ({
  ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
  metadata: { ...PLACE, ownerReferences: [OWNER], ...more },
  spec,
});

test('a lease is created once its owner, the Node object, exists, and is then renewed with one call per period', async (t) => {
  const { api, clock, verbs, stored } = begin(t);
  await clock.pass(10);
  assert.deepEqual(verbs(), ['get leases', 'get nodes']);
  api.put(NODES, registered());
  await clock.pass(PERIOD_MS);
  assert.deepEqual(verbs(), ['get leases', 'get nodes', 'create leases']);
  const spec = { holderIdentity: 'n1', leaseDurationSeconds: 40 };
  assert.deepEqual(stored()?.spec, { ...spec, renewTime: '2026-11-23T10:00:10.200000Z' });
  assert.deepEqual(stored()?.metadata.ownerReferences, [OWNER]);
  await clock.pass(2 * PERIOD_MS);
  assert.deepEqual(verbs(), ['patch leases', 'patch leases']);
  assert.equal(stored()?.spec?.renewTime, '2026-11-23T10:00:30.600000Z');
});

test('an existing lease is renewed at once, even if its time is in the future, and its other fields are kept', async (t) => {
  const api = new FakeKubeClient();
  const spec = {
    holderIdentity: 'n1',
    leaseDurationSeconds: 60,
    renewTime: '2031-01-01T00:00:00.000000Z',
    strategy: 'x',
  };
  api.put(LEASES, kept(spec));
  const { clock, verbs, stored } = begin(t, api);
  await clock.pass(10);
  assert.deepEqual(verbs(), ['get leases', 'patch leases']);
  assert.deepEqual(stored()?.spec, { ...spec, leaseDurationSeconds: 40, renewTime: '2026-11-23T10:00:00.000000Z' });
});

test('a renewal patches only the renew time, with the last known resource version', async (t) => {
  const api = new FakeKubeClient();
  api.put(NODES, registered());
  const more = { managedFields: [{ manager: 'kubelet' }] } as object;
  const { metadata } = api.put(LEASES, kept({ holderIdentity: 'n1', leaseDurationSeconds: 40 }, more));
  begin(t, api);
  await api.waitForCalls({ verb: 'patch', plural: 'leases' });
  const { body, patchType } = api.callsOf({ verb: 'patch', plural: 'leases' })[0]!;
  const { resourceVersion } = metadata;
  assert.deepEqual(body, { metadata: { resourceVersion }, spec: { renewTime: '2026-11-23T10:00:00.000000Z' } });
  assert.equal(patchType, 'merge');
});

test('after a write by another client the lease is read again; a deleted lease is re-created', async (t) => {
  const api = new FakeKubeClient();
  api.put(NODES, registered());
  api.put(LEASES, kept({ holderIdentity: 'n1' }));
  const { clock, verbs, stored } = begin(t, api);
  await clock.pass(10);
  verbs();
  api.put(LEASES, kept({ holderIdentity: 'n1' }, { labels: { a: 'b' } }));
  await clock.pass(PERIOD_MS);
  assert.deepEqual(verbs(), ['patch leases', 'get leases', 'patch leases']);
  assert.deepEqual(stored()?.metadata.labels, { a: 'b' });
  api.remove(LEASES, PLACE);
  await clock.pass(PERIOD_MS);
  assert.deepEqual(verbs(), [...Array(5).fill('patch leases'), 'get leases', 'get nodes', 'create leases']);
});

test('a failing server is retried five times at once with new connections, then with growing pauses', async (t) => {
  const api = new FakeKubeClient();
  api.put(LEASES, kept({ holderIdentity: 'n1' }));
  const { clock, verbs, stored } = begin(t, api);
  await clock.pass(10);
  verbs();
  api.script({ verb: 'patch' }, ...Array.from({ length: 5 }, () => refusal(500, 'InternalError')));
  api.script({ verb: 'get', plural: 'leases' }, refusal(500, 'InternalError'), refusal(503, 'ServiceUnavailable'));
  await clock.pass(PERIOD_MS);
  assert.deepEqual(verbs(), [...Array(5).fill('patch leases'), 'get leases']);
  assert.equal(api.reconnects, 4);
  await clock.pass(200);
  assert.deepEqual(verbs(), ['get leases']);
  await clock.pass(400);
  assert.deepEqual(verbs(), ['get leases', 'patch leases']);
  assert.equal(stored()?.spec?.renewTime, '2026-11-23T10:00:10.800000Z');
});

test('a lease without an owner gets one as soon as the node object exists', async (t) => {
  const api = new FakeKubeClient();
  api.put(LEASES, kept({ holderIdentity: 'n1' }, { ownerReferences: undefined }));
  const { clock, verbs, stored } = begin(t, api);
  await clock.pass(10);
  assert.deepEqual(verbs(), ['get leases', ...Array(5).fill('get nodes')]);
  api.put(NODES, registered());
  await clock.pass(PERIOD_MS);
  assert.deepEqual(stored()?.metadata.ownerReferences, [OWNER]);
});

test('a decreasing lease resource version is reported as a restored server, once', async (t) => {
  const { api, clock, restores } = begin(t);
  api.put(NODES, registered());
  await clock.pass(3 * PERIOD_MS);
  assert.equal(restores.count, 0);
  const backup = kept({ holderIdentity: 'n1' }, { resourceVersion: '50' });
  const later = { ...backup, metadata: { ...backup.metadata, resourceVersion: '51' } };
  api.script({ verb: 'patch', plural: 'leases' }, refusal(409, 'Conflict'), later);
  api.script({ verb: 'get', plural: 'leases' }, backup);
  await clock.pass(3 * PERIOD_MS);
  assert.equal(restores.count, 1);
});

test('a lost lease is reported as a restored server, once, when it is created again', async (t) => {
  const { api, clock, restores } = begin(t);
  api.put(NODES, registered());
  await clock.pass(2 * PERIOD_MS);
  api.remove(LEASES, PLACE);
  api.remove(NODES, { name: 'n1' });
  await clock.pass(2 * PERIOD_MS);
  assert.equal(restores.count, 0);
  api.put(NODES, registered());
  await clock.pass(2 * PERIOD_MS);
  assert.equal(restores.count, 1);
});
