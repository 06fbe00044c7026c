/** Tests of the complete server: how its store, admission, subresources and controllers work together. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { type Answer, send } from './server/test-client.fixture.ts';
import { type ApiServer, startApiServer } from './start-api-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'api-server-'));
const socketPath = join(directory, 'api.sock');
let server: ApiServer;
before(async () => {
  server = await startApiServer({ directory: join(directory, 'data'), socketPath, logger: silentLogger });
});
after(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

/** Sends a request with the permissions of the administrator or of a node. */
async function call(method: string, path: string, { body, node }: { body?: object; node?: string } = {}) {
  const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
  const asNode = { 'impersonate-user': `system:node:${node}`, 'impersonate-group': 'system:nodes' };
  const headers = { 'content-type': type, ...(node !== undefined && asNode) };
  const sent = { method, path, headers, ...(body && { body: JSON.stringify(body) }) };
  return send({ socketPath, port: 0, certificate: '' }, 'the unix socket', sent);
}

const create = (path: string, body: object) => call('POST', path, { body });

async function newNamespace(name: string): Promise<string> {
  const path = `/api/v1/namespaces/${name}`;
  assert.equal((await create('/api/v1/namespaces', { metadata: { name } })).status, 201);
  return path;
}

const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'main', image: 'busybox' }], automountServiceAccountToken: false, ...spec },
});

function checkRefused(answer: Answer, status: number, message: RegExp): void {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.json().message, message);
}

describe('a pod', () => {
  it('has the defaults of its kind and of admission, and its account’s token', async () => {
    const path = `${await newNamespace('defaults')}/pods`;
    const created = await create(path, pod('one', { automountServiceAccountToken: undefined }));
    const { spec, status } = created.json();
    assert.deepEqual(
      [status.phase, status.qosClass, spec.terminationGracePeriodSeconds],
      ['Pending', 'BestEffort', 30],
    );
    assert.deepEqual(
      [spec.serviceAccountName, spec.priority, spec.preemptionPolicy, spec.tolerations.length],
      ['default', 0, 'PreemptLowerPriority', 2],
    );
    assert.match(spec.volumes[0].name, /^kube-api-access-\w{5}$/);
    assert.deepEqual(spec.containers[0].volumeMounts, [
      { name: spec.volumes[0].name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ]);
    const missing = await create(path, pod('two', { serviceAccountName: 'none' }));
    checkRefused(missing, 403, /error looking up service account defaults\/none: serviceaccount "none" not found/);
  });

  it('is bound to a node once', async () => {
    const path = `${await newNamespace('binding')}/pods`;
    await create(path, pod('one'));
    const binding = { metadata: { name: 'one' }, target: { kind: 'Node', name: 'n' } };
    const bound = await create(`${path}/one/binding`, binding);
    assert.deepEqual([bound.status, bound.json().status], [201, 'Success']);
    const { spec, status } = (await call('GET', `${path}/one`)).json();
    assert.deepEqual([spec.nodeName, status.conditions[0].type], ['n', 'PodScheduled']);
    checkRefused(await create(`${path}/one/binding`, binding), 409, /already assigned to node/);
  });

  it('has the zone of the node to which it is bound, and the labels of the binding', async () => {
    const path = `${await newNamespace('zones')}/pods`;
    const labels = { 'topology.kubernetes.io/zone': 'z1', other: 'x' };
    await create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'zoned', labels } });
    await create(path, pod('one', {}, { labels: { app: 'a' } }));
    const metadata = { name: 'one', labels: { own: 'y' } };
    await create(`${path}/one/binding`, { metadata, target: { kind: 'Node', name: 'zoned' } });
    const bound = (await call('GET', `${path}/one`)).json();
    assert.deepEqual(bound.metadata.labels, { app: 'a', own: 'y', 'topology.kubernetes.io/zone': 'z1' });
  });

  it('is evicted with its grace period, unless a budget forbids it', async () => {
    const namespace = await newNamespace('eviction');
    const path = `${namespace}/pods`;
    const eviction = (name: string) =>
      create(`${path}/${name}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } });
    await create(path, pod('free', { nodeName: 'n', terminationGracePeriodSeconds: 9 }));
    assert.equal((await eviction('free')).status, 201);
    assert.equal((await call('GET', `${path}/free`)).json().metadata.deletionGracePeriodSeconds, 9);
    await create(path, pod('needed', { nodeName: 'n' }, { labels: { app: 'a' } }));
    const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await call('PATCH', `${path}/needed/status`, { body: { status: ready } });
    const budget = { metadata: { name: 'b' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } } };
    assert.equal((await create('/apis/policy/v1/namespaces/eviction/poddisruptionbudgets', budget)).status, 201);
    checkRefused(await eviction('needed'), 429, /^Cannot evict pod as it would violate the pod's disruption budget/);
  });

  it('gets ephemeral containers and other resources through subresources only', async () => {
    const path = `${await newNamespace('changes')}/pods`;
    const amounts = { cpu: '4', memory: '8Gi', pods: '110' };
    await create('/api/v1/nodes', { metadata: { name: 'large' }, status: { capacity: amounts, allocatable: amounts } });
    const withCpu = (cpu: string) => [{ name: 'main', image: 'busybox', resources: { requests: { cpu } } }];
    await create(path, pod('one', { nodeName: 'large', containers: withCpu('100m') }));
    const changes: [string, object][] = [
      ['ephemeralcontainers', { ephemeralContainers: [{ name: 'debug', image: 'busybox' }] }],
      ['resize', { containers: withCpu('200m') }],
    ];
    for (const [index, [subresource, spec]] of changes.entries()) {
      const refused = await call('PATCH', `${path}/one`, { body: { spec } });
      if (refused.status === 200) assert.deepEqual(refused.json().spec.ephemeralContainers, undefined);
      else assert.equal(refused.status, 422);
      const changed = await call('PATCH', `${path}/one/${subresource}`, { body: { spec } });
      assert.deepEqual([changed.status, changed.json().metadata?.generation], [200, 2 + index], changed.text);
    }
  });
});

describe('a token of a pod', () => {
  it('is valid until the pod is deleted', async () => {
    const path = await newNamespace('tokens');
    const { uid } = (await create(`${path}/pods`, pod('one', { nodeName: 'n' }))).json().metadata;
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'one', uid };
    const request = { spec: { expirationSeconds: 3607, boundObjectRef } };
    const { token } = (await create(`${path}/serviceaccounts/default/token`, request)).json().status;
    const review = async () =>
      (await create('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } })).json().status;
    const { authenticated, user } = await review();
    assert.deepEqual([authenticated, user.username], [true, 'system:serviceaccount:tokens:default']);
    assert.deepEqual(user.extra['authentication.kubernetes.io/pod-uid'], [uid]);
    await call('DELETE', `${path}/pods/one`, { body: { gracePeriodSeconds: 0 } });
    assert.equal((await review()).authenticated, undefined);
  });

  it('is not issued for another pod’s UID, or for another account', async () => {
    const path = await newNamespace('strangers');
    await create(`${path}/serviceaccounts`, { metadata: { name: 'other' } });
    await create(`${path}/pods`, pod('one', { nodeName: 'n' }));
    const reference = { kind: 'Pod', apiVersion: 'v1', name: 'one' };
    const statusOf = async (account: string, spec: object) =>
      (await create(`${path}/serviceaccounts/${account}/token`, { spec })).status;
    assert.equal(await statusOf('default', { boundObjectRef: { ...reference, uid: 'x' } }), 409);
    assert.equal(await statusOf('other', { boundObjectRef: reference }), 400);
    assert.equal(await statusOf('default', { boundObjectRef: { ...reference, name: 'none' } }), 404);
    assert.equal(await statusOf('none', {}), 404);
    assert.equal(await statusOf('default', { expirationSeconds: 10 }), 422);
  });
});

describe('a node', () => {
  it('reads what its pods need, and nothing else', async () => {
    const path = await newNamespace('reads');
    await create('/api/v1/nodes', { metadata: { name: 'reader' } });
    for (const name of ['used', 'other']) await create(`${path}/secrets`, { metadata: { name } });
    const volumes = [{ name: 'a', secret: { secretName: 'used' } }];
    await create(`${path}/pods`, pod('mine', { nodeName: 'reader', volumes }));
    const cases: [string, number][] = [
      ['/api/v1/nodes/reader', 200],
      ['/api/v1/nodes/large', 403],
      ['/api/v1/pods?fieldSelector=spec.nodeName%3Dreader', 200],
      ['/api/v1/pods', 403],
      [`${path}/secrets/used`, 200],
      [`${path}/secrets/other`, 403],
      [`${path}/secrets`, 403],
      ['/apis/node.k8s.io/v1/runtimeclasses', 200],
      ['/api/v1/namespaces', 403],
    ];
    for (const [asked, status] of cases)
      assert.equal((await call('GET', asked, { node: 'reader' })).status, status, asked);
  });

  it('creates mirror pods that it owns', async () => {
    const path = `${await newNamespace('mirrors')}/pods`;
    const { uid } = (await create('/api/v1/nodes', { metadata: { name: 'owner' } })).json().metadata;
    const annotations = { 'kubernetes.io/config.mirror': 'abc', 'kubernetes.io/config.hash': 'abc' };
    const mirror = (fields: object, spec: object = {}) => {
      const owner = { apiVersion: 'v1', kind: 'Node', name: 'owner', uid, controller: true, ...fields };
      const given = { nodeName: 'owner', automountServiceAccountToken: undefined, ...spec };
      const body = pod('static-owner', given, { annotations, ownerReferences: [owner] });
      return call('POST', path, { body, node: 'owner' });
    };
    checkRefused(await mirror({ uid: 'other' }), 403, /UID mismatch: expected other got/);
    const volumes = [{ name: 'a', secret: { secretName: 'b' } }];
    checkRefused(await mirror({}, { volumes }), 403, /a mirror pod may not reference secrets$/);
    const { spec } = (await mirror({})).json();
    assert.deepEqual([spec.serviceAccountName, spec.volumes], [undefined, undefined]);
    const deletion = { body: { gracePeriodSeconds: 0 }, node: 'owner' };
    assert.equal((await call('DELETE', `${path}/static-owner`, deletion)).status, 200);
  });
});

it('a deleted namespace is removed with its objects', async () => {
  const path = await newNamespace('removed');
  await create(`${path}/configmaps`, { metadata: { name: 'one' } });
  assert.equal((await call('DELETE', path)).json().status.phase, 'Terminating');
  using signal = withTimeout(undefined, 30_000, 'wait for the end of the namespace');
  await waitFor(async () => (await call('GET', path)).status === 404 || undefined, { intervalMs: 20, signal });
  assert.equal((await call('GET', `${path}/configmaps/one`)).status, 404);
});
