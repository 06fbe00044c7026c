/** Semantics that clients rely on, tested over HTTP: of the tests' server, or with PODWRIGHT_KUBERNETES_BIN of the real one. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { waitFor, withTimeout } from '@podwright/base';
import { type Cluster, startCluster } from '../cluster.fixture.ts';
import type { Answer, RawClient } from '../raw-client.fixture.ts';

let cluster: Cluster;
let api: RawClient;
before(async () => {
  cluster = await startCluster();
  if (cluster.own !== undefined) cluster.own.control.schedules = 'off';
  api = cluster.admin;
});
after(async () => {
  await cluster[Symbol.asyncDispose]();
});

/** A namespace for one test. */
async function newNamespace(): Promise<string> {
  const name = `test-${randomBytes(4).toString('hex')}`;
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await cluster.until(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: name } },
    () => true,
  );
  return name;
}

async function place(plural = 'configmaps'): Promise<string> {
  return `/api/v1/namespaces/${await newNamespace()}/${plural}`;
}

const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'main', image: 'busybox' }], automountServiceAccountToken: false, ...spec },
});

async function newNode(): Promise<string> {
  const name = `node-${randomBytes(4).toString('hex')}`;
  const amounts = { cpu: '4', memory: '8Gi', pods: '110' };
  await api.create('/api/v1/nodes', { metadata: { name }, status: { capacity: amounts, allocatable: amounts } });
  return name;
}

/** A node name that no node has: its pods do not change by themselves. */
const NODE = 'absent';

function checkRefused(answer: Answer, expected: { status: number; reason?: string; message?: RegExp }): void {
  assert.equal(answer.status, expected.status, answer.text);
  assert.equal(answer.body.kind, 'Status');
  assert.equal(answer.body.status, 'Failure');
  assert.equal(answer.body.code, expected.status);
  assert.equal(answer.body.reason, expected.reason);
  if (expected.message !== undefined) assert.match(answer.body.message, expected.message);
}

describe('objects', () => {
  it('have the metadata that the server sets, whatever was sent', async () => {
    const path = await place('pods');
    const { status, body } = await api.create(path, {
      ...pod('one', { nodeName: NODE }),
      metadata: { name: 'one', uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', generation: 7 },
      status: { phase: 'Running' },
    });
    assert.equal(status, 201);
    assert.match(body.metadata.uid, /^[0-9a-f]{8}-/);
    assert.match(body.metadata.creationTimestamp, /^20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(body.metadata.generation, 1);
    assert.match(body.metadata.resourceVersion, /^\d+$/);
    assert.equal(body.status.phase, 'Pending');
    assert.equal(body.status.qosClass, 'BestEffort');
    assert.equal(body.spec.terminationGracePeriodSeconds, 30);
    assert.equal(body.spec.serviceAccountName, 'default');
    assert.deepEqual(
      [body.spec.priority, body.spec.preemptionPolicy, body.spec.tolerations.length],
      [0, 'PreemptLowerPriority', 2],
    );
    assert.equal(body.kind, 'Pod');
    assert.equal(body.apiVersion, 'v1');
  });

  it('are returned as metadata only if a patch requests it', async () => {
    const namespace = await newNamespace();
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const { body: lease } = await api.create(leases, { metadata: { name: 'one' }, spec: { holderIdentity: 'a' } });
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
    const { resourceVersion } = lease.metadata;
    const body = { metadata: { resourceVersion }, spec: { renewTime: '2026-01-01T00:00:00.000000Z' } };
    const asked = { body, type: 'application/merge-patch+json', headers: { accept } };
    const patched = await api.call('PATCH', `${leases}/one`, asked);
    assert.deepEqual(Object.keys(patched.body).sort(), ['apiVersion', 'kind', 'metadata']);
    assert.equal(patched.body.kind, 'PartialObjectMetadata');
    assert.notEqual(patched.body.metadata.resourceVersion, resourceVersion);
    const { body: now } = await api.get(`${leases}/one`);
    assert.deepEqual(now.spec, { holderIdentity: 'a', renewTime: '2026-01-01T00:00:00.000000Z' });
    checkRefused(await api.call('PATCH', `${leases}/one`, asked), { status: 409, reason: 'Conflict' });
  });

  it('retain unknown fields, and have no generation if their kind has none', async () => {
    const path = await place();
    const { body } = await api.create(path, { metadata: { name: 'one', labels: { a: 'b' } }, data: { key: 'value' } });
    assert.deepEqual(
      [body.data, body.metadata.labels, body.metadata.generation],
      [{ key: 'value' }, { a: 'b' }, undefined],
    );
  });

  it('get unused generated names', async () => {
    const path = await place();
    const names = [];
    for (let count = 0; count < 3; count++)
      names.push((await api.create(path, { metadata: { generateName: 'some-' } })).body.metadata.name);
    for (const name of names) assert.match(name, /^some-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.equal(new Set(names).size, 3);
  });

  it('have versions from one counter for all kinds', async () => {
    const namespace = await newNamespace();
    const versions: number[] = [];
    for (const [plural, object] of [
      ['configmaps', {}],
      ['secrets', {}],
      ['pods', pod('one')],
    ] as const) {
      const { body } = await api.create(`/api/v1/namespaces/${namespace}/${plural}`, {
        ...object,
        metadata: { name: 'one' },
      });
      versions.push(Number(body.metadata.resourceVersion));
    }
    const list = await api.get(`/api/v1/namespaces/${namespace}/secrets`);
    versions.push(Number(list.body.metadata.resourceVersion));
    assert.deepEqual(
      versions,
      [...versions].sort((one, other) => one - other),
    );
    assert.equal(new Set(versions.slice(0, 3)).size, 3);
  });
});

describe('refusals', () => {
  it('have the API’s messages', async () => {
    const namespace = await newNamespace();
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await api.create(path, { metadata: { name: 'one' } });
    const cases: [Promise<Answer>, { status: number; reason?: string; message?: RegExp }][] = [
      [api.get(`${path}/none`), { status: 404, reason: 'NotFound', message: /^configmaps "none" not found$/ }],
      [
        api.create(path, { metadata: { name: 'one' } }),
        { status: 409, reason: 'AlreadyExists', message: /^configmaps "one" already exists$/ },
      ],
      [
        api.create(path, { metadata: {} }),
        { status: 422, reason: 'Invalid', message: /name or generateName is required/ },
      ],
      [api.create(path, { metadata: { name: 'No Name' } }), { status: 422, reason: 'Invalid' }],
      [
        api.create(path, { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } }),
        { status: 400, reason: 'BadRequest' },
      ],
      [
        api.create(path, { metadata: { name: 'a', namespace: 'elsewhere' } }),
        { status: 400, reason: 'BadRequest', message: /does not match the namespace/ },
      ],
      [api.call('POST', path, { body: '{' }), { status: 400, reason: 'BadRequest' }],
      [
        api.call('PATCH', `${path}/one`, { body: '{}', type: 'application/json' }),
        { status: 415, reason: 'UnsupportedMediaType' },
      ],
      [
        api.create('/api/v1/namespaces/none/configmaps', { metadata: { name: 'a' } }),
        { status: 404, reason: 'NotFound', message: /^namespaces "none" not found$/ },
      ],
      [api.update(`${path}/none`, { metadata: { name: 'none' } }), { status: 404, reason: 'NotFound' }],
      [api.update(`${path}/one`, { metadata: { name: 'other' } }), { status: 400, reason: 'BadRequest' }],
      [
        api.get(`${path}?fieldSelector=data.x%3D1`),
        {
          status: 400,
          reason: 'BadRequest',
          message: /"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"/,
        },
      ],
      [
        api.get('/api/v1/pods?fieldSelector=data.x%3D1'),
        { status: 400, reason: 'BadRequest', message: /^field label not supported: data.x$/ },
      ],
      [api.get(`${path}?labelSelector=%21%21`), { status: 400, reason: 'BadRequest' }],
      [api.get(`${path}?continue=nonsense`), { status: 400, reason: 'BadRequest' }],
      [api.get(`${path}?sendInitialEvents=true`), { status: 422, reason: 'Invalid' }],
      [api.get(`${path}?resourceVersionMatch=Exact`), { status: 422, reason: 'Invalid' }],
      [api.get(`${path}?watch=1&sendInitialEvents=true`), { status: 422, reason: 'Invalid' }],
      [api.get(`${path}?resourceVersion=abc`), { status: 400, reason: 'BadRequest' }],
      [api.delete(`${path}/one`, { propagationPolicy: 'Sideways' }), { status: 422, reason: 'Invalid' }],
      [
        api.delete(`${path}/one`, { preconditions: { uid: 'other' } }),
        { status: 409, reason: 'Conflict', message: /the UID in the precondition \(other\) does not match/ },
      ],
    ];
    for (const [asked, expected] of cases) checkRefused(await asked, expected);
  });

  it('of an unknown group are plain text', async () => {
    const { status, text } = await api.get('/apis/nothing.example/v1/things');
    assert.deepEqual([status, text], [404, '404 page not found\n']);
  });

  it('of unauthenticated users have the user’s name', async () => {
    const anonymous = cluster.client();
    checkRefused(await anonymous.get('/api/v1/pods'), {
      status: 403,
      reason: 'Forbidden',
      message: /User "system:anonymous" cannot list/,
    });
    anonymous.close();
    const impostor = cluster.client({ kind: 'token', token: 'nonsense' });
    checkRefused(await impostor.get('/api/v1/pods'), { status: 401, reason: 'Unauthorized' });
    impostor.close();
  });
});

describe('writes', () => {
  it('without a change keep the version, and are not sent to watchers', async () => {
    const path = await place();
    const { body } = await api.create(path, { metadata: { name: 'one' }, data: { a: '1' } });
    await using watch = await api.watch(`${path}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    const same = [
      await api.update(`${path}/one`, body),
      await api.patch(`${path}/one`, 'strategic', {}),
      await api.patch(`${path}/one`, 'merge', { data: { a: '1' } }),
    ];
    for (const answer of same) {
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.metadata.resourceVersion, body.metadata.resourceVersion);
    }
    await api.create(path, { metadata: { name: 'two' } });
    assert.deepEqual(await watch.names(1), ['ADDED two']);
  });

  it('with an old version, or another uid, conflict', async () => {
    const path = await place();
    const first = (await api.create(path, { metadata: { name: 'one' }, data: { a: '1' } })).body;
    const second = (await api.update(`${path}/one`, { ...first, data: { a: '2' } })).body;
    const refused = {
      status: 409,
      reason: 'Conflict',
      message: /^Operation cannot be fulfilled on configmaps "one": /,
    };
    checkRefused(await api.update(`${path}/one`, { ...first, data: { a: '3' } }), refused);
    const old = { resourceVersion: first.metadata.resourceVersion };
    checkRefused(await api.patch(`${path}/one`, 'merge', { metadata: old, data: { a: '3' } }), refused);
    const foreign = { ...second, metadata: { ...second.metadata, uid: 'another', resourceVersion: undefined } };
    checkRefused(await api.update(`${path}/one`, foreign), refused);
    const whole = await api.update(`${path}/one`, { metadata: { name: 'one' }, data: { a: '4' } });
    assert.deepEqual([whole.status, whole.body.metadata.uid], [200, first.metadata.uid]);
  });

  it('of the desired state increment the generation, others do not', async () => {
    const path = await place('pods');
    const { body } = await api.create(path, pod('one'));
    const labelled = await api.patch(`${path}/one`, 'merge', { metadata: { labels: { a: 'b' } } });
    const status = await api.patch(`${path}/one/status`, 'strategic', { status: { message: 'hm' } });
    const image = await api.patch(`${path}/one`, 'strategic', {
      spec: { containers: [{ name: 'main', image: 'other' }] },
    });
    const generations = [body, labelled.body, status.body, image.body].map((object) => object.metadata.generation);
    assert.deepEqual(generations, [1, 1, 1, 2]);
  });

  it('with dryRun change nothing', async () => {
    const path = await place();
    assert.equal((await api.create(`${path}?dryRun=All`, { metadata: { name: 'one' } })).status, 201);
    assert.equal((await api.get(`${path}/one`)).status, 404);
    await api.create(path, { metadata: { name: 'one' }, data: { a: '1' } });
    const tried = await api.patch(`${path}/one?dryRun=All`, 'merge', { data: { a: '2' } });
    assert.equal(tried.body.data.a, '2');
    assert.equal((await api.delete(`${path}/one?dryRun=All`)).status, 200);
    assert.deepEqual((await api.get(`${path}/one`)).body.data, { a: '1' });
    assert.equal((await api.create(`${path}?dryRun=Some`, { metadata: { name: 'two' } })).status >= 400, true);
  });

  it('of a missing lease create it', async () => {
    const namespace = await newNamespace();
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/one`;
    const lease = {
      metadata: { name: 'one' },
      spec: { holderIdentity: 'a', renewTime: '2026-11-22T10:00:00.123456Z' },
    };
    const made = await api.update(path, lease);
    assert.equal(made.status, 201, made.text);
    assert.equal(made.body.spec.renewTime, '2026-11-22T10:00:00.123456Z');
  });

  it('of a pod that may not be changed are rejected', async () => {
    const path = await place('pods');
    const { body } = await api.create(path, pod('one', { nodeName: NODE }));
    checkRefused(await api.update(`${path}/one`, { ...body, spec: { ...body.spec, nodeName: 'other' } }), {
      status: 422,
      reason: 'Invalid',
      message: /pod updates may not change fields other than/,
    });
    const tolerations = [...body.spec.tolerations, { key: 'a', operator: 'Exists' }];
    assert.equal((await api.update(`${path}/one`, { ...body, spec: { ...body.spec, tolerations } })).status, 200);
  });

  it('accept secret values as text, too', async () => {
    const path = await place('secrets');
    const { body } = await api.create(path, { metadata: { name: 'one' }, stringData: { a: 'b' } });
    assert.deepEqual([body.data, body.type, body.stringData], [{ a: 'Yg==' }, 'Opaque', undefined]);
  });

  it('of immutable objects are rejected', async () => {
    const path = await place();
    await api.create(path, { metadata: { name: 'one' }, data: { a: '1' }, immutable: true });
    checkRefused(await api.patch(`${path}/one`, 'merge', { data: { a: '2' } }), {
      status: 422,
      reason: 'Invalid',
      message: /field is immutable when `immutable` is set/,
    });
  });
});

describe('status', () => {
  it('is written separately from the desired state', async () => {
    const path = await place('pods');
    const { body } = await api.create(path, pod('one', { nodeName: NODE }));
    const status = await api.update(`${path}/one/status`, {
      ...body,
      spec: { ...body.spec, nodeName: 'other' },
      status: { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] },
    });
    assert.equal(status.status, 200, status.text);
    assert.deepEqual([status.body.spec.nodeName, status.body.status.phase], [NODE, 'Running']);
    assert.equal(status.body.status.qosClass, 'BestEffort');
    const main = await api.patch(`${path}/one`, 'merge', { status: { phase: 'Failed' } });
    assert.equal(main.body.status.phase, 'Running');
  });

  it('includes labels and annotations of a node, but no taints', async () => {
    const name = `node-${randomBytes(4).toString('hex')}`;
    const node = { metadata: { name }, status: { capacity: { cpu: '2' } } };
    const made = await api.create('/api/v1/nodes', node);
    assert.deepEqual(made.body.status.capacity, { cpu: '2' });
    const patched = await api.patch(`/api/v1/nodes/${name}/status`, 'strategic', {
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
      spec: { podCIDR: '10.1.0.0/24' },
      status: { conditions: [{ type: 'Ready', status: 'True' }], allocatable: { cpu: '1' } },
    });
    assert.equal(patched.status, 200, patched.text);
    assert.deepEqual([patched.body.metadata.labels.a, patched.body.metadata.annotations.c], ['b', 'd']);
    assert.equal(patched.body.spec.podCIDR, undefined);
    assert.deepEqual(patched.body.status.capacity, { cpu: '2' });
    await api.delete(`/api/v1/nodes/${name}`);
  });

  it('retains the observed generation if a client does not send it', async () => {
    const path = await place('pods');
    await api.create(path, pod('one', { nodeName: NODE }));
    const conditions = [{ type: 'Ready', status: 'True', observedGeneration: 1 }];
    await api.patch(`${path}/one/status`, 'strategic', { status: { observedGeneration: 1, conditions } });
    const { body } = await api.patch(`${path}/one/status`, 'merge', {
      status: { observedGeneration: null, conditions: [{ type: 'Ready', status: 'False' }] },
    });
    assert.deepEqual([body.status.observedGeneration, body.status.conditions[0].observedGeneration], [1, 1]);
  });
});

describe('patches', () => {
  it('of the kubelet merge by keys', async () => {
    const path = await place('pods');
    const { body } = await api.create(path, pod('one', { nodeName: NODE }));
    const condition = (type: string, status = 'True') => ({ type, status, message: 'hm' });
    await api.patch(`${path}/one/status`, 'strategic', {
      status: { conditions: ['Ready', 'Mine', 'Initialized'].map((type) => condition(type)) },
    });
    const patched = await api.patch(`${path}/one/status`, 'strategic', {
      metadata: { uid: body.metadata.uid },
      status: {
        $setElementOrder: undefined,
        '$setElementOrder/conditions': [{ type: 'Initialized' }, { type: 'Ready' }],
        conditions: [{ type: 'Ready', status: 'False', message: null }],
        podIPs: [{ ip: '10.0.0.1' }],
      },
    });
    assert.equal(patched.status, 200, patched.text);
    const seen = patched.body.status.conditions.map((one: { type: string; status: string; message?: string }) => [
      one.type,
      one.status,
      one.message,
    ]);
    assert.deepEqual(seen, [
      ['Mine', 'True', 'hm'],
      ['Initialized', 'True', 'hm'],
      ['Ready', 'False', undefined],
    ]);
  });

  it('with the uid of another object are never applied', async () => {
    const path = await place('pods');
    await api.create(path, pod('one', { nodeName: NODE }));
    const refused = await api.patch(`${path}/one/status`, 'strategic', {
      metadata: { uid: 'other' },
      status: { phase: 'Running' },
    });
    checkRefused(refused, {
      status: 422,
      reason: 'Invalid',
      message: /metadata.uid: Invalid value: "other": field is immutable/,
    });
    assert.equal((await api.get(`${path}/one`)).body.status.phase, 'Pending');
  });

  it('in JSON are applied completely, or not at all', async () => {
    const path = await place();
    await api.create(path, { metadata: { name: 'one', annotations: { 'x.example/a': '1', c: '2' } } });
    const at = '/metadata/annotations';
    const patched = await api.patch(`${path}/one`, 'json', [
      { op: 'test', path: `${at}/c`, value: '2' },
      { op: 'move', from: `${at}/c`, path: `${at}/d` },
      { op: 'replace', path: `${at}/x.example~1a`, value: '3' },
      { op: 'copy', from: `${at}/d`, path: `${at}/e` },
      { op: 'remove', path: `${at}/d` },
    ]);
    const expected = { 'x.example/a': '3', e: '2' };
    assert.deepEqual(patched.body.metadata.annotations, expected);
    const failing: [unknown, number][] = [
      [[{ op: 'test', path: `${at}/e`, value: 'other' }], 422],
      [[{ op: 'remove', path: `${at}/none` }], 422],
      [[{ op: 'replace', path: '/metadata/none/deeper', value: '1' }], 422],
      [{ op: 'remove' }, 400],
    ];
    for (const [patch, status] of failing) {
      const answer = await api.patch(`${path}/one`, 'json', patch);
      assert.equal(answer.status, status, answer.text);
    }
    assert.deepEqual((await api.get(`${path}/one`)).body.metadata.annotations, expected);
  });
});

describe('lists', () => {
  it('have items without kinds, in order, selected by fields and labels', async () => {
    const path = await place('pods');
    for (const [name, node] of [
      ['c', NODE],
      ['a', NODE],
      ['b', 'other'],
    ] as const)
      await api.create(path, pod(name, { nodeName: node }, { labels: { name, tier: node } }));
    const names = async (query: string) => {
      const { body } = await api.get(`${path}?${query}`);
      return body.items.map((item: { metadata: { name: string } }) => item.metadata.name).join(' ');
    };
    const cases: [string, string][] = [
      ['', 'a b c'],
      [`fieldSelector=spec.nodeName%3D${NODE}`, 'a c'],
      [`fieldSelector=spec.nodeName!%3D${NODE}`, 'b'],
      ['fieldSelector=metadata.name%3Db', 'b'],
      [`fieldSelector=spec.nodeName%3D${NODE},status.phase!%3DSucceeded,metadata.name%3Dc`, 'c'],
      ['fieldSelector=spec.hostNetwork%3Dfalse', 'a b c'],
      ['labelSelector=name%3Da', 'a'],
      ['labelSelector=name%20in%20(a,b),tier', 'a b'],
      ['labelSelector=name%20notin%20(a),name!%3Db', 'c'],
      ['labelSelector=!name', ''],
      ['labelSelector=none', ''],
    ];
    for (const [query, expected] of cases) assert.equal(await names(query), expected, query);
    const { body } = await api.get(path);
    assert.deepEqual(
      [body.kind, body.apiVersion, body.items[0].kind, body.items[0].apiVersion],
      ['PodList', 'v1', undefined, undefined],
    );
  });

  it('are paged with the first page’s version', async () => {
    const path = await place();
    const all = await api.get(path);
    for (const name of ['a', 'b', 'c', 'd']) await api.create(path, { metadata: { name } });
    const first = await api.get(`${path}?limit=2`);
    const total = all.body.items.length + 4;
    assert.deepEqual([first.body.items.length, first.body.metadata.remainingItemCount], [2, total - 2]);
    await api.create(path, { metadata: { name: 'e' } });
    const rest = await api.get(`${path}?limit=500&continue=${first.body.metadata.continue}`);
    assert.equal(rest.body.metadata.resourceVersion, first.body.metadata.resourceVersion);
    assert.equal(rest.body.metadata.continue, undefined);
    assert.ok(rest.body.items.length >= total - 2);
    const cached = await api.get(`${path}?limit=2&resourceVersion=0`);
    assert.equal(cached.body.metadata.continue, undefined);
  });

  it('of a future version wait, and then fail', async () => {
    const path = await place();
    const { body } = await api.get(path);
    const future = Number(body.metadata.resourceVersion) + 1_000_000;
    const answer = await api.get(`${path}?resourceVersion=${future}&resourceVersionMatch=NotOlderThan`);
    checkRefused(answer, { status: 504, reason: 'Timeout', message: /^Timeout: Too large resource version: / });
    assert.equal(answer.body.details.causes[0].reason, 'ResourceVersionTooLarge');
    assert.equal(answer.headers['retry-after'], '1');
  });
});

describe('watches', () => {
  const INITIAL = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

  it('start with the existing objects and a bookmark', async () => {
    const path = await place('secrets');
    await api.create(path, { metadata: { name: 'one' } });
    await using watch = await api.watch(`${path}?watch=1&${INITIAL}&timeoutSeconds=60`);
    assert.equal(watch.status, 200);
    const added = await watch.next();
    assert.deepEqual([added?.type, added?.object.metadata.name, added?.object.kind], ['ADDED', 'one', 'Secret']);
    const bookmark = await watch.next();
    const { annotations, resourceVersion } = bookmark!.object.metadata;
    assert.deepEqual([bookmark!.type, annotations], ['BOOKMARK', { 'k8s.io/initial-events-end': 'true' }]);
    assert.ok(Number(resourceVersion) >= Number(added!.object.metadata.resourceVersion));
    await api.patch(`${path}/one`, 'merge', { data: { a: 'Yg==' } });
    await api.delete(`${path}/one`);
    assert.deepEqual(await watch.names(2), ['MODIFIED one', 'DELETED one']);
  });

  it('continue from a version without a gap, and report the version of a deletion', async () => {
    const path = await place('secrets');
    const { body } = await api.create(path, { metadata: { name: 'one' } });
    await api.create(path, { metadata: { name: 'two' } });
    await api.delete(`${path}/one`);
    await using watch = await api.watch(`${path}?watch=true&resourceVersion=${body.metadata.resourceVersion}`);
    assert.deepEqual(await watch.names(1), ['ADDED two']);
    const deleted = await watch.next();
    assert.equal(deleted?.type, 'DELETED');
    assert.ok(Number(deleted?.object.metadata.resourceVersion) > Number(body.metadata.resourceVersion) + 1);
  });

  it('of a selection report entering objects as added and leaving ones as deleted', async () => {
    const path = await place();
    const { body } = await api.create(path, { metadata: { name: 'one', labels: { a: 'no' } } });
    const version = body.metadata.resourceVersion;
    await using watch = await api.watch(`${path}?watch=1&resourceVersion=${version}&labelSelector=a%3Dyes`);
    for (const a of ['yes', 'no', 'yes']) await api.patch(`${path}/one`, 'merge', { metadata: { labels: { a } } });
    await api.patch(`${path}/one`, 'merge', { data: { b: 'c' } });
    const events = [await watch.next(), await watch.next(), await watch.next(), await watch.next()];
    assert.deepEqual(
      events.map((event) => event?.type),
      ['ADDED', 'DELETED', 'ADDED', 'MODIFIED'],
    );
    assert.equal(events[1]?.object.metadata.labels.a, 'yes');
    const versions = events.map((event) => Number(event?.object.metadata.resourceVersion));
    assert.deepEqual(
      versions,
      [...versions].sort((one, other) => one - other),
    );
  });

  it('without a version report the existing objects, and end at their timeout', async () => {
    const path = await place('secrets');
    await api.create(path, { metadata: { name: 'one' } });
    await using watch = await api.watch(`${path}?watch=1&timeoutSeconds=1`);
    assert.deepEqual(await watch.names(2), ['ADDED one', 'END']);
  });

  it('of one name are watches of a selection', async () => {
    const path = await place('secrets');
    for (const name of ['one', 'two']) await api.create(path, { metadata: { name } });
    await using watch = await api.watch(`${path}?watch=1&${INITIAL}&fieldSelector=metadata.name%3Dtwo`);
    assert.deepEqual(await watch.names(2), ['ADDED two', 'BOOKMARK']);
  });

  it('receive bookmarks of later versions before their end', async () => {
    const path = await place('secrets');
    await using watch = await api.watch(`${path}?watch=1&${INITIAL}&timeoutSeconds=4`);
    const first = await watch.next();
    await api.create(path, { metadata: { name: 'one' } });
    assert.deepEqual(await watch.names(1), ['ADDED one']);
    const bookmarks = [];
    for (let event = await watch.next(); event !== undefined; event = await watch.next()) bookmarks.push(event);
    assert.ok(bookmarks.length > 0);
    for (const { type, object } of bookmarks)
      assert.deepEqual([type, object.metadata.annotations], ['BOOKMARK', undefined]);
    const last = bookmarks.at(-1)?.object.metadata.resourceVersion;
    assert.ok(Number(last) > Number(first?.object.metadata.resourceVersion));
  });

  it('from a future version receive nothing', async () => {
    const path = await place('secrets');
    await using watch = await api.watch(`${path}?watch=1&resourceVersion=99999999&timeoutSeconds=2`);
    await api.create(path, { metadata: { name: 'one' } });
    assert.deepEqual(await watch.names(1), ['END']);
  });
});

describe('deletion', () => {
  it('of an object without finalizers returns its uid', async () => {
    const path = await place();
    const { body } = await api.create(path, { metadata: { name: 'one' } });
    const deleted = await api.delete(`${path}/one`);
    assert.deepEqual(deleted.body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'one', kind: 'configmaps', uid: body.metadata.uid },
    });
  });

  it('waits for finalizers', async () => {
    const path = await place();
    await api.create(path, { metadata: { name: 'one', finalizers: ['test.example/a'] } });
    const deleted = await api.delete(`${path}/one`);
    assert.equal(deleted.status, 200);
    assert.ok(deleted.body.metadata.deletionTimestamp);
    assert.equal(deleted.body.metadata.deletionGracePeriodSeconds, 0);
    checkRefused(
      await api.patch(`${path}/one`, 'merge', { metadata: { finalizers: ['test.example/a', 'test.example/b'] } }),
      {
        status: 422,
        reason: 'Invalid',
      },
    );
    assert.equal((await api.patch(`${path}/one`, 'merge', { metadata: { finalizers: null } })).status, 200);
    assert.equal((await api.get(`${path}/one`)).status, 404);
  });

  it('of a pod starts its grace period, which can only be shortened', async () => {
    const path = await place('pods');
    const { body } = await api.create(path, pod('one', { nodeName: NODE, terminationGracePeriodSeconds: 20 }));
    await using watch = await api.watch(`${path}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    const first = (await api.delete(`${path}/one`)).body.metadata;
    assert.deepEqual([first.deletionGracePeriodSeconds, first.generation], [20, 2]);
    const again = (await api.delete(`${path}/one`, { gracePeriodSeconds: 60 })).body.metadata;
    assert.deepEqual(
      [again.deletionTimestamp, again.resourceVersion],
      [first.deletionTimestamp, first.resourceVersion],
    );
    const shorter = (await api.delete(`${path}/one`, { gracePeriodSeconds: 5 })).body.metadata;
    assert.equal(shorter.deletionGracePeriodSeconds, 5);
    assert.equal(Date.parse(first.deletionTimestamp) - Date.parse(shorter.deletionTimestamp), 15_000);
    checkRefused(await api.delete(`${path}/one`, { gracePeriodSeconds: 0, preconditions: { uid: 'other' } }), {
      status: 409,
      reason: 'Conflict',
    });
    const last = await api.delete(`${path}/one`, { gracePeriodSeconds: 0, preconditions: { uid: body.metadata.uid } });
    assert.equal(last.status, 200);
    assert.deepEqual(await watch.names(4), ['MODIFIED one', 'MODIFIED one', 'MODIFIED one', 'DELETED one']);
    assert.equal((await api.get(`${path}/one`)).status, 404);
  });

  it('of an unscheduled or finished pod is immediate', async () => {
    const path = await place('pods');
    await api.create(path, pod('unbound'));
    await api.create(path, pod('over', { nodeName: NODE }));
    await api.patch(`${path}/over/status`, 'strategic', { status: { phase: 'Succeeded' } });
    for (const name of ['unbound', 'over']) {
      assert.equal((await api.delete(`${path}/${name}`)).status, 200);
      assert.equal((await api.get(`${path}/${name}`)).status, 404);
    }
  });

  it('of a pod with finalizers waits until they are removed', async () => {
    const path = await place('pods');
    await api.create(path, pod('one', { nodeName: NODE }, { finalizers: ['test.example/a'] }));
    await api.delete(`${path}/one`, { gracePeriodSeconds: 0 });
    const { body } = await api.get(`${path}/one`);
    assert.equal(body.metadata.deletionGracePeriodSeconds, 0);
    await api.patch(`${path}/one`, 'merge', { metadata: { finalizers: null } });
    assert.equal((await api.get(`${path}/one`)).status, 404);
  });

  it('of a collection removes the selected objects', async () => {
    const path = await place();
    for (const name of ['a', 'b', 'c']) await api.create(path, { metadata: { name, labels: { name } } });
    const { status } = await api.delete(`${path}?labelSelector=name%20in%20(a,b)`);
    assert.equal(status, 200);
    const { body } = await api.get(`${path}?labelSelector=name`);
    assert.deepEqual(
      body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      ['c'],
    );
  });

  it('of a namespace removes its contents', async () => {
    const namespace = await newNamespace();
    await api.create(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'one' } });
    const { body } = await api.delete(`/api/v1/namespaces/${namespace}`);
    assert.equal(body.status.phase, 'Terminating');
    await cluster.untilGone({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    assert.equal((await api.get(`/api/v1/namespaces/${namespace}/configmaps/one`)).status, 404);
  });
});

describe('subresources of pods', () => {
  it('bind, once', async () => {
    const path = await place('pods');
    await api.create(path, pod('one', { schedulerName: 'anonymous' }));
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'one' },
      target: { kind: 'Node', name: NODE },
    };
    const bound = await api.create(`${path}/one/binding`, binding);
    assert.deepEqual([bound.status, bound.body.status], [201, 'Success']);
    const { body } = await api.get(`${path}/one`);
    assert.equal(body.spec.nodeName, NODE);
    assert.deepEqual([body.status.conditions[0].type, body.status.conditions[0].status], ['PodScheduled', 'True']);
    checkRefused(await api.create(`${path}/one/binding`, binding), {
      status: 409,
      reason: 'Conflict',
      message: /already assigned to node/,
    });
  });

  it('evict if a budget allows it', async () => {
    const namespace = await newNamespace();
    const path = `/api/v1/namespaces/${namespace}/pods`;
    await api.create(path, pod('one', { nodeName: NODE, terminationGracePeriodSeconds: 9 }, { labels: { app: 'a' } }));
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'one', namespace } };
    const evicted = await api.create(`${path}/one/eviction`, eviction);
    assert.equal(evicted.status, 201, evicted.text);
    assert.equal((await api.get(`${path}/one`)).body.metadata.deletionGracePeriodSeconds, 9);
  });

  it('add ephemeral containers, and retain the existing ones', async () => {
    const path = await place('pods');
    await api.create(path, pod('one', { nodeName: NODE }));
    const ephemeralContainers = [{ name: 'debug', image: 'busybox', command: ['sh'] }];
    const added = await api.patch(`${path}/one/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers } });
    assert.equal(added.status, 200, added.text);
    assert.equal(added.body.spec.ephemeralContainers[0].terminationMessagePath, '/dev/termination-log');
    assert.equal(added.body.metadata.generation, 2);
    const changed = [{ name: 'debug', image: 'other' }];
    checkRefused(
      await api.patch(`${path}/one/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: changed } }),
      {
        status: 422,
        reason: 'Invalid',
      },
    );
  });

  it('resize, and do not change other fields', async () => {
    const path = await place('pods');
    const node = await newNode();
    const resources = (cpu: string) => ({ requests: { cpu } });
    const containers = [{ name: 'main', image: 'busybox', resources: resources('100m') }];
    await api.create(path, pod('one', { nodeName: node, containers }));
    const wanted = { spec: { containers: [{ name: 'main', resources: resources('200m') }] } };
    const main = await api.patch(`${path}/one`, 'strategic', wanted);
    assert.equal(main.status, 422, main.text);
    const resized = await api.patch(`${path}/one/resize`, 'strategic', wanted);
    assert.equal(resized.status, 200, resized.text);
    assert.deepEqual(
      [resized.body.spec.containers[0].resources.requests.cpu, resized.body.metadata.generation],
      ['200m', 2],
    );
  });
});

describe('pods with an account', () => {
  it('have its token, the CA and their namespace in a volume', async () => {
    const path = await place('pods');
    const { body } = await api.create(path, pod('one', { automountServiceAccountToken: undefined }));
    const [volume] = body.spec.volumes;
    assert.match(volume.name, /^kube-api-access-\w{5}$/);
    assert.deepEqual(volume.projected, {
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    });
    assert.deepEqual(body.spec.containers[0].volumeMounts, [
      { name: volume.name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ]);
  });

  it('need an existing one', async () => {
    const path = await place('pods');
    checkRefused(await api.create(path, pod('one', { serviceAccountName: 'none' })), {
      status: 403,
      reason: 'Forbidden',
      message: /error looking up service account \S+\/none: serviceaccount "none" not found/,
    });
  });

  it('get tokens that authenticate them, until they are deleted', async () => {
    const namespace = await newNamespace();
    const path = `/api/v1/namespaces/${namespace}`;
    const { body } = await api.create(`${path}/pods`, pod('one', { nodeName: NODE }));
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'one', uid: body.metadata.uid };
    const answer = await api.create(`${path}/serviceaccounts/default/token`, {
      spec: { expirationSeconds: 3607, boundObjectRef },
    });
    assert.equal(answer.status, 201, answer.text);
    const { token, expirationTimestamp } = answer.body.status;
    const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
    assert.equal(claims.sub, `system:serviceaccount:${namespace}:default`);
    assert.deepEqual(claims['kubernetes.io'].pod, { name: 'one', uid: body.metadata.uid });
    assert.equal(claims['kubernetes.io'].warnafter, claims.iat + 3607);
    assert.ok(claims.exp > claims.iat + 300 * 86400);
    const life = (Date.parse(expirationTimestamp) / 1000 - claims.iat) | 0;
    assert.ok(Math.abs(life - 3607) <= 1, String(life));
    const review = async () =>
      (await api.create('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } })).body.status;
    const good = await review();
    assert.deepEqual([good.authenticated, good.user.username], [true, claims.sub]);
    assert.deepEqual(good.user.extra['authentication.kubernetes.io/pod-uid'], [body.metadata.uid]);
    await api.delete(`${path}/pods/one`, { gracePeriodSeconds: 0 });
    // The real server caches the validity of a token for ten seconds.
    const isOver = async () => ((await review()).authenticated === undefined ? true : undefined);
    using signal = withTimeout(undefined, 30_000, 'wait for the end of the token');
    await waitFor(isOver, { intervalMs: 100, signal });
    assert.deepEqual((await review()).user, {});
  });

  it('get no token for another pod’s uid, or for another account', async () => {
    const namespace = await newNamespace();
    const path = `/api/v1/namespaces/${namespace}`;
    await api.create(`${path}/serviceaccounts`, { metadata: { name: 'other' } });
    await api.create(`${path}/pods`, pod('one', { nodeName: NODE }));
    const ask = (account: string, spec: object) => api.create(`${path}/serviceaccounts/${account}/token`, { spec });
    const reference = { kind: 'Pod', apiVersion: 'v1', name: 'one' };
    checkRefused(await ask('default', { boundObjectRef: { ...reference, uid: 'x' } }), {
      status: 409,
      reason: 'Conflict',
    });
    checkRefused(await ask('other', { boundObjectRef: reference }), { status: 400, reason: 'BadRequest' });
    checkRefused(await ask('default', { boundObjectRef: { ...reference, name: 'none' } }), {
      status: 404,
      reason: 'NotFound',
    });
    checkRefused(await ask('none', {}), { status: 404, reason: 'NotFound' });
    checkRefused(await ask('default', { expirationSeconds: 10 }), { status: 422, reason: 'Invalid' });
  });
});

describe('a node', () => {
  /** A node, and a client with its certificate. */
  const newNodeClient = async () => {
    const name = await newNode();
    return { name, node: cluster.client(cluster.nodeCredential(name)) };
  };

  it('reads itself, its pods and their objects', async () => {
    const { name, node } = await newNodeClient();
    const namespace = await newNamespace();
    const path = `/api/v1/namespaces/${namespace}`;
    const volumes = [{ name: 'a', secret: { secretName: 'used' } }];
    for (const secret of ['used', 'other']) await api.create(`${path}/secrets`, { metadata: { name: secret } });
    await api.create(`${path}/pods`, pod('mine', { nodeName: name, volumes }));
    await api.create(`${path}/pods`, pod('foreign', { nodeName: NODE }));
    const relation = new RegExp(`no relationship found between node '${name}' and this object$`);
    const cases: [string, number, RegExp?][] = [
      [`/api/v1/nodes/${name}`, 200],
      [`/api/v1/nodes?fieldSelector=metadata.name%3D${name}`, 200],
      ['/api/v1/nodes/other', 403, /cannot read 'other', only its own Node object$/],
      ['/api/v1/nodes', 403, /cannot read all nodes, only its own Node object$/],
      [`/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`, 200],
      ['/api/v1/pods', 403, /can only list\/watch pods with spec.nodeName field selector$/],
      [`${path}/pods/mine`, 200],
      [`${path}/pods/foreign`, 403, relation],
      [`${path}/pods/none`, 403, relation],
      [`${path}/secrets/used`, 200],
      [`${path}/secrets?fieldSelector=metadata.name%3Dused`, 200],
      [`${path}/secrets/other`, 403, relation],
      [`${path}/secrets`, 403, /No Object name found$/],
      ['/api/v1/services', 200],
      ['/apis/storage.k8s.io/v1/csidrivers', 200],
      ['/apis/node.k8s.io/v1/runtimeclasses', 200],
      [`/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3D${name}`, 200],
      ['/apis/resource.k8s.io/v1/resourceslices', 403, /with nodeName field selector$/],
      ['/api/v1/namespaces', 403, /at the cluster scope$/],
    ];
    // The real server's authorizer sees objects and pods slightly later than they are stored.
    using signal = withTimeout(undefined, 30_000, 'wait for the rights of the node');
    await waitFor(async () => ((await node.get(`${path}/secrets/used`)).status === 200 ? true : undefined), {
      intervalMs: 50,
      signal,
    });
    for (const [asked, status, message] of cases) {
      const answer = await node.get(asked);
      assert.equal(answer.status, status, answer.text);
      if (message !== undefined) checkRefused(answer, { status, reason: 'Forbidden', message });
    }
    node.close();
  });

  it('only writes its own objects', async () => {
    const { name, node } = await newNodeClient();
    const namespace = await newNamespace();
    const path = `/api/v1/namespaces/${namespace}`;
    await api.create(`${path}/pods`, pod('foreign', { nodeName: NODE }));
    await api.create(`${path}/pods`, pod('mine', { nodeName: name }));
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    const phase = { status: { phase: 'Running' } };
    const cases: [Promise<Answer>, RegExp][] = [
      [
        node.create(`${path}/pods`, pod('new', { nodeName: name })),
        /annotation, node "\S+" can only create mirror pods$/,
      ],
      [
        node.patch(`${path}/pods/foreign/status`, 'strategic', phase),
        /can only update pod status for pods with spec.nodeName set to itself$/,
      ],
      [
        node.patch(`${path}/pods/mine/status`, 'strategic', { metadata: { labels: { a: 'b' } } }),
        /cannot update labels through pod status$/,
      ],
      [node.delete(`${path}/pods/foreign`), /can only delete pods with spec.nodeName set to itself$/],
      [node.create(`${path}/serviceaccounts/default/token`, { spec: {} }), /node requested token not bound to a pod$/],
      [node.delete(`/api/v1/nodes/${name}`), /cannot delete resource "nodes"/],
      [
        node.patch(`/api/v1/nodes/${name}`, 'merge', { spec: { taints: [{ key: 'a', effect: 'NoExecute' }] } }),
        /is not allowed to modify taints$/,
      ],
      [
        node.patch(`/api/v1/nodes/${name}`, 'merge', {
          metadata: { labels: { 'node-restriction.kubernetes.io/a': '', 'x.kubernetes.io/y': '' } },
        }),
        /is not allowed to modify labels: node-restriction.kubernetes.io\/a, x.kubernetes.io\/y$/,
      ],
      [
        node.update(`${leases}/other`, { metadata: { name: 'other' } }),
        /can only access node lease with the same name as the requesting node$/,
      ],
      [
        node.create(leases, { metadata: { name: 'other' } }),
        /can only access node lease with the same name as the requesting node$/,
      ],
    ];
    for (const [asked, message] of cases) checkRefused(await asked, { status: 403, reason: 'Forbidden', message });
    assert.equal((await node.delete(`${path}/pods/none`)).status, 404);
    assert.equal((await node.patch(`${path}/pods/mine/status`, 'strategic', phase)).status, 200);
    assert.equal((await node.create(leases, { metadata: { name } })).status, 201);
    node.close();
  });

  it('creates mirror pods that it owns', async () => {
    const { name, node } = await newNodeClient();
    const path = `/api/v1/namespaces/${await newNamespace()}/pods`;
    const { body } = await node.get(`/api/v1/nodes/${name}`);
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: body.metadata.uid, controller: true };
    const mirror = (ownerReferences: object[], spec: object = {}) =>
      pod(
        `static-${name}`,
        { nodeName: name, automountServiceAccountToken: undefined, ...spec },
        {
          annotations: { 'kubernetes.io/config.mirror': 'abc', 'kubernetes.io/config.hash': 'abc' },
          ownerReferences,
        },
      );
    const refused: [object[], object, RegExp][] = [
      [[], {}, /with an owner reference set to itself$/],
      [[{ ...owner, uid: 'other' }], {}, /UID mismatch: expected other got/],
      [[{ ...owner, controller: false }], {}, /with a controller owner reference set to itself$/],
      [[owner], { volumes: [{ name: 'a', secret: { secretName: 'b' } }] }, /a mirror pod may not reference secrets$/],
    ];
    for (const [owners, spec, message] of refused)
      checkRefused(await node.create(path, mirror(owners, spec)), { status: 403, reason: 'Forbidden', message });
    const made = await node.create(path, mirror([owner]));
    assert.equal(made.status, 201, made.text);
    assert.deepEqual([made.body.spec.serviceAccountName, made.body.spec.volumes], [undefined, undefined]);
    assert.equal((await node.delete(`${path}/static-${name}`, { gracePeriodSeconds: 0 })).status, 200);
    node.close();
  });
});

describe('certificate requests', () => {
  const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

  /** A request (PKCS#10) and its key, PEM. */
  const newRequest = (subject: string, hosts = '') => {
    const names = hosts === '' ? [] : ['-addext', `subjectAltName=${hosts}`];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '-'];
    const text = execFileSync('openssl', ['req', '-new', ...key, '-subj', subject, ...names], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [, request = ''] =
      /(-----BEGIN CERTIFICATE REQUEST-----.+-----END CERTIFICATE REQUEST-----\n)/s.exec(text) ?? [];
    return { request, key: text.replace(request, '') };
  };

  const ask = async (client: RawClient, signerName: string, request: string) => {
    const usages = ['digital signature', signerName.endsWith('serving') ? 'server auth' : 'client auth'];
    const spec = { request: Buffer.from(request).toString('base64'), signerName, usages };
    return client.create(REQUESTS, { metadata: { generateName: 'csr-' }, spec });
  };

  const signedAs = (name: string) =>
    cluster.until(
      { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name } },
      ({ status }) => typeof status?.certificate === 'string',
    );

  const certificateOf = (object: { status?: { certificate?: unknown } }) =>
    Buffer.from(String(object.status?.certificate), 'base64').toString();

  it('with a bootstrap token are approved, and authenticate a node', async () => {
    const token = await cluster.bootstrapToken();
    const newcomer = cluster.client(token);
    const name = `node-${randomBytes(4).toString('hex')}`;
    const { request, key } = newRequest(`/O=system:nodes/CN=system:node:${name}`);
    // The real server reads new tokens slightly later.
    const made = await waitFor(
      async () => {
        const answer = await ask(newcomer, 'kubernetes.io/kube-apiserver-client-kubelet', request);
        return answer.status === 201 ? answer : undefined;
      },
      { intervalMs: 200, signal: AbortSignal.timeout(30_000) },
    );
    assert.match(made.body.metadata.name, /^csr-/);
    assert.match(made.body.spec.username, /^system:bootstrap:/);
    assert.ok(made.body.spec.groups.includes('system:bootstrappers'));
    const object = await signedAs(made.body.metadata.name);
    const certificate = certificateOf(object);
    const { subject, ca } = new X509Certificate(certificate);
    assert.deepEqual([subject, ca], [`O=system:nodes\nCN=system:node:${name}`, false]);
    const node = cluster.client({ kind: 'certificate', certificate, key });
    assert.equal((await node.create('/api/v1/nodes', { metadata: { name } })).status, 201);
    assert.equal((await newcomer.create('/api/v1/nodes', { metadata: { name: 'other' } })).status, 403);
    node.close();
    newcomer.close();
  });

  it('for a node’s server wait for an approval', async () => {
    const name = await newNode();
    const node = cluster.client(cluster.nodeCredential(name));
    const { request } = newRequest(`/O=system:nodes/CN=system:node:${name}`, `DNS:${name},IP:127.0.0.1`);
    const made = await ask(node, 'kubernetes.io/kubelet-serving', request);
    assert.equal(made.status, 201, made.text);
    const path = `${REQUESTS}/${made.body.metadata.name}`;
    const waiting = await node.get(path);
    assert.deepEqual(waiting.body.status, {});
    const conditions = [{ type: 'Approved', status: 'True', reason: 'Tested', message: '' }];
    const approved = await api.update(`${path}/approval`, { ...waiting.body, status: { conditions } });
    assert.equal(approved.status, 200, approved.text);
    const certificate = new X509Certificate(certificateOf(await signedAs(made.body.metadata.name)));
    assert.equal(certificate.subjectAltName, `DNS:${name}, IP Address:127.0.0.1`);
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    node.close();
  });

  it('that are invalid are rejected', async () => {
    const answer = await ask(api, 'kubernetes.io/kubelet-serving', 'nonsense');
    checkRefused(answer, { status: 422, reason: 'Invalid', message: /spec.request/ });
  });
});
