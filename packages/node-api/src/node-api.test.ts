/** Tests lists, watches and patches of the local API, on a kubelet with an in-memory runtime. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { type Pod, podSummary } from '@podwright/kube-api';
import { type FakeKubelet, startFakeKubelet } from '@podwright/kubelet/testing';
import { serveLocalApi } from './serve-local-api.ts';

const pod = (name: string, labels: string, namespace = 'default') => `
---
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: ${namespace}, uid: uid-${name}, labels: {${labels}}}
spec: {containers: [{name: main, image: 'busybox:1'}]}
`;
const configMap = (name: string, value: string) => `
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}, labels: {app: web}}
data: {key: ${value}}
`;

type Served = { fake: FakeKubelet; manifests: string; call: Call };
type Metadata = Record<'name' | 'creationTimestamp' | 'resourceVersion', string> &
  Record<'labels' | 'annotations', Record<string, string>>;
type Body = {
  apiVersion: string;
  kind: string;
  message: string;
  metadata: Metadata;
  data?: { key: string };
  items: { metadata: Metadata }[];
  objects: { action: string }[];
  status: { conditions: { type: string; status: string }[]; capacity: { memory: string } };
};
type Answer = { status: number; body: Body };
type Call = (method: string, path: string, body?: object | string) => Promise<Answer>;

/** kubectl's `Accept` header for printing a table. */
const TABLES =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';
type Table = { columnDefinitions: { name: string; priority: number }[]; rows: { cells: string[]; object?: object }[] };

type Opened = { open: (path: string) => Promise<Lines>; tables: (path: string) => Promise<IncomingMessage> };

async function serve(t: TestContext, manifest: string): Promise<Served & Opened> {
  const directory = mkdtempSync('/tmp/node-api-');
  const manifests = join(directory, 'manifests');
  const fake = await startFakeKubelet({ manifest });
  const socketPath = join(directory, 'node.sock');
  const info = { name: 'node', version: '1', manifestDir: manifests, podLogsDir: '' };
  const options = { socketPath, kubelet: fake.handle, info, onStop: () => undefined, logger: silentLogger };
  const server = await serveLocalApi(options);
  t.after(async () => {
    await server.close();
    await fake.close();
    rmSync(directory, { recursive: true });
  });
  const open = async (path: string) => new Lines(await send(socketPath, { method: 'GET', path }));
  const call: Call = async (method, path, body) => {
    const response = await send(socketPath, { method, path, body });
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode!, body: JSON.parse(text) };
  };
  const tables = (path: string) => send(socketPath, { method: 'GET', path, accept: TABLES });
  return { fake, manifests, call, open, tables };
}

type SentCall = { method: string; path: string; body?: object | string; accept?: string };

function send(socketPath: string, call: SentCall): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const isStrategic = call.path.endsWith('ephemeralcontainers') && call.method === 'PATCH';
  const kind = Array.isArray(call.body) ? 'json-patch' : isStrategic ? 'strategic-merge-patch' : 'merge-patch';
  const { accept = 'application/json' } = call;
  const headers = { host: 'node', 'content-type': `application/${kind}+json`, accept };
  const outgoing = request({ socketPath, method: call.method, path: call.path, headers, agent: false }, resolve);
  outgoing.on('error', reject).end(typeof call.body === 'object' ? JSON.stringify(call.body) : call.body);
  return promise;
}

/** Passes the applied files to the fake kubelet, which does not read the manifest directory. */
function followDirectory(fake: FakeKubelet, manifests: string): Disposable {
  const timer = setInterval(() => {
    const files = readdirSync(manifests).filter((name) => name.endsWith('.json'));
    fake.apply(files.map((name) => readFileSync(join(manifests, name), 'utf8')).join('\n---\n'));
  }, 2);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** The lines of a watch, as `TYPE name`. */
class Lines {
  readonly #response: IncomingMessage;
  readonly #lines: AsyncIterator<string>;

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.#lines = createInterface({ input: response })[Symbol.asyncIterator]();
  }

  async next(): Promise<string> {
    const { type, object } = JSON.parse((await this.#lines.next()).value);
    return `${type} ${object.metadata.name ?? object.metadata.annotations['k8s.io/initial-events-end']}`;
  }

  close(): void {
    this.#response.destroy();
  }
}

const names = ({ body }: Answer) => body.items.map(({ metadata }) => metadata.name).join(' ');

test('lists have the Kubernetes format and support namespace, label and field selectors', async (t) => {
  const manifest = pod('a', 'app: web') + pod('b', 'app: db', 'team') + configMap('c', 'x');
  const { fake, call } = await serve(t, manifest);
  await fake.pod('a', ({ status }) => status?.phase === 'Running');
  await fake.pod('b', ({ status }) => status?.phase === 'Running');
  const check = async (path: string, expected: string) => assert.equal(names(await call('GET', path)), expected, path);
  await check('/api/v1/pods', 'a b');
  await check('/api/v1/namespaces/team/pods', 'b');
  await check('/api/v1/pods?labelSelector=app%3Dweb', 'a');
  await check('/api/v1/pods?labelSelector=app+notin+(web)', 'b');
  await check('/api/v1/pods?fieldSelector=metadata.namespace%3Dteam,status.phase%3DRunning', 'b');
  await check('/api/v1/pods?fieldSelector=spec.nodeName%3Dnode', 'a b');
  await check('/api/v1/pods?fieldSelector=status.phase%3DPending', '');
  await check('/api/v1/configmaps', 'c');
  await check('/api/v1/namespaces/team/configmaps', '');
  await check('/api/v1/secrets', '');
  await check('/apis/node.k8s.io/v1/runtimeclasses', '');
  await check('/api/v1/nodes?fieldSelector=metadata.name%3Dnode', 'node');
  const events = '/api/v1/events?fieldSelector=involvedObject.name%3Db,reason%3DStarted';
  assert.equal((await call('GET', events)).body.items.length, 1);
  const list = (await call('GET', '/api/v1/configmaps')).body;
  assert.deepEqual([list.apiVersion, list.kind], ['v1', 'ConfigMapList']);
  const node = (await call('GET', '/api/v1/nodes/node')).body;
  const conditions = node.status.conditions.map(({ type, status }) => `${type} ${status}`);
  assert.deepEqual(conditions, ['MemoryPressure False', 'DiskPressure False', 'PIDPressure False', 'Ready True']);
  assert.match(node.status.capacity.memory, /^\d+Ki$/);
  const { declaredFeatures } = node.status as unknown as { declaredFeatures: string[] };
  assert.deepEqual(declaredFeatures, ['ExtendWebSocketsToKubelet', 'RestartAllContainersOnContainerExits']);
  const wrong = await call('GET', '/api/v1/pods?labelSelector=a+b');
  assert.equal(wrong.status, 400);
  assert.match(wrong.body.message, /^label selector "a b": /);
  assert.equal((await call('GET', '/api/v1/pods?fieldSelector=spec.x%3D1')).status, 400);
});

test('lists, objects and watches are returned as tables to clients that prefer them, such as kubectl', async (t) => {
  const { fake, tables } = await serve(t, pod('a', 'app: web') + configMap('c', 'x'));
  await fake.pod('a', (one) => podSummary(one).ready === '1/1');
  const get = async (path: string): Promise<Table & { kind: string; message: string }> => {
    let text = '';
    for await (const chunk of await tables(path)) text += chunk;
    return JSON.parse(text);
  };
  const pods = await get('/api/v1/pods?labelSelector=app%3Dweb');
  assert.equal(pods.kind, 'Table');
  const shown = pods.columnDefinitions.flatMap(({ name, priority }) => (priority === 0 ? [name] : []));
  assert.deepEqual(shown, ['Name', 'Ready', 'Status', 'Restarts', 'Age']);
  assert.deepEqual(pods.rows[0]!.cells.slice(0, 4), ['a', '1/1', 'Running', '0']);
  assert.match(pods.rows[0]!.cells[4]!, /^\d+s$/);
  assert.equal((pods.rows[0]!.object as { kind: string }).kind, 'PartialObjectMetadata');
  const one = await get('/api/v1/namespaces/default/configmaps/c?includeObject=Object');
  assert.deepEqual(one.rows[0]!.cells.slice(0, 2), ['c', 1]);
  assert.equal((one.rows[0]!.object as { kind: string }).kind, 'ConfigMap');
  assert.equal((await get('/api/v1/nodes?includeObject=None')).rows[0]!.object, undefined);
  assert.deepEqual((await get('/api/v1/secrets')).rows, []);
  assert.match((await get('/api/v1/pods?includeObject=All')).message, /"All" is not one of None, Metadata, Object/);

  const watching = await tables('/api/v1/configmaps?watch=true');
  const lines = createInterface({ input: watching })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value)) as { type: string; object: Table };
  const first = await next();
  assert.deepEqual([first.type, first.object.columnDefinitions.length], ['ADDED', 3]);
  fake.apply(pod('a', 'app: web') + configMap('c', 'two'));
  const second = await next();
  assert.deepEqual([second.type, second.object.columnDefinitions], ['MODIFIED', []]);
  assert.equal(second.object.rows[0]!.cells[0], 'c');
  watching.destroy();
});

test('the discovery API returns versions, groups and resources', async (t) => {
  const { call } = await serve(t, '');
  const get = async (path: string) => (await call('GET', path)).body as unknown as Record<string, { name: string }[]>;
  assert.deepEqual(
    (await get('/apis')).groups!.map(({ name }) => name),
    ['node.k8s.io', 'metrics.k8s.io'],
  );
  const { preferredVersion, versions } = (await get('/apis')).groups![1] as unknown as Record<string, unknown>;
  assert.deepEqual(preferredVersion, { groupVersion: 'metrics.k8s.io/v1', version: 'v1' });
  assert.deepEqual(versions, [preferredVersion, { groupVersion: 'metrics.k8s.io/v1beta1', version: 'v1beta1' }]);
  const names = async (path: string) => (await get(path)).resources!.map(({ name }) => name).join(' ');
  assert.equal(await names('/api/v1'), 'pods configmaps secrets persistentvolumeclaims events nodes pods/status');
  assert.equal(await names('/apis/node.k8s.io/v1'), 'runtimeclasses');
  for (const version of ['v1', 'v1beta1']) {
    assert.equal(await names(`/apis/metrics.k8s.io/${version}`), 'pods nodes');
    const { kind, apiVersion } = await get(`/apis/metrics.k8s.io/${version}/nodes`);
    assert.deepEqual([kind, apiVersion], ['NodeMetricsList', `metrics.k8s.io/${version}`]);
  }
  assert.deepEqual((await get('/api')).versions, ['v1']);
});

test('the error for a missing object names other namespaces that have one with that name', async (t) => {
  const { call } = await serve(t, pod('web', 'app: web', 'team-a') + configMap('c', 'x'));
  const message = async (path: string) => {
    const { status, body } = await call('GET', path);
    assert.equal(status, 404);
    return body.message;
  };
  assert.equal(
    await message('/api/v1/namespaces/default/pods/web'),
    'there is no pod web in the namespace default; web is in team-a: add -n team-a',
  );
  assert.equal(
    await message('/api/v1/namespaces/default/pods/web/log'),
    'there is no pod web in the namespace default; web is in team-a: add -n team-a',
  );
  assert.equal(
    await message('/api/v1/namespaces/default/pods/nope'),
    "there is no pod default/nope; 'podwright ps' lists the pods",
  );
  assert.match(await message('/api/v1/namespaces/x/configmaps/c'), /c is in default: add -n default$/);
  assert.equal(await message('/apis/node.k8s.io/v1/runtimeclasses/none'), 'there is no runtimeclass none');
});

test('a watch reports the existing objects, followed by each change within the selection', async (t) => {
  const { fake, open } = await serve(t, configMap('a', 'x'));
  const watching = await open('/api/v1/configmaps?watch=true&sendInitialEvents=true&labelSelector=app%3Dweb');
  assert.equal(await watching.next(), 'ADDED a');
  assert.equal(await watching.next(), 'BOOKMARK true');
  fake.apply(configMap('a', 'two'));
  assert.equal(await watching.next(), 'MODIFIED a');
  fake.apply(configMap('a', 'two') + configMap('b', 'z'));
  assert.equal(await watching.next(), 'ADDED b');
  fake.apply(configMap('a', 'two').replace('web', 'db') + configMap('b', 'z'));
  assert.equal(await watching.next(), 'DELETED a');
  fake.apply(configMap('a', 'v').replace('web', 'db') + configMap('b', 'z'));
  fake.apply(configMap('a', 'v') + configMap('b', 'z'));
  assert.equal(await watching.next(), 'ADDED a');
  fake.apply(configMap('a', 'v'));
  assert.equal(await watching.next(), 'DELETED b');
  watching.close();
});

test('a pod watch neither misses nor duplicates changes while pods are created and deleted', async (t) => {
  const { fake, open } = await serve(t, pod('seed', ''));
  await fake.pod('seed', ({ status }) => status?.phase === 'Running');
  for (let round = 0; round < 20; round++) {
    const name = `p${round}`;
    const opening = open('/api/v1/pods?watch=true');
    fake.apply(pod('seed', '') + pod(name, ''));
    const watching = await opening;
    const added: string[] = [];
    while (!added.includes(name)) {
      const [type, what] = (await watching.next()).split(' ');
      if (type === 'ADDED') added.push(what!);
    }
    assert.equal(new Set(added).size, added.length, String(added));
    watching.close();
  }
});

test('labels of an applied object can be patched and removed, and survive another apply', async (t) => {
  const { fake, manifests, call } = await serve(t, '');
  using _following = followDirectory(fake, manifests);
  const apply = async (value: string) => {
    const metadata = { name: 'c', labels: { app: 'web', tier: 'x' } };
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { key: value } };
    return (await call('POST', '/podwright/v1/apply', manifest)).body.objects[0]!.action;
  };
  const path = '/api/v1/namespaces/default/configmaps/c';
  const patch = async (metadata: object) => (await call('PATCH', path, { metadata })).body.metadata;
  const content = async () => (await call('GET', path)).body;
  const until = async (value: string) => {
    while ((await content()).data?.key !== value);
  };

  assert.equal(await apply('1'), 'created');
  await until('1');
  const { creationTimestamp } = (await content()).metadata;
  assert.match(creationTimestamp, /Z$/);
  assert.deepEqual((await patch({ labels: { own: 'yes', tier: null } })).labels, { app: 'web', own: 'yes' });
  assert.equal((await patch({ annotations: { note: 'a "b"' } })).annotations.note, 'a "b"');
  assert.equal(await apply('1'), 'unchanged');
  assert.equal(await apply('2'), 'replaced');
  await until('2');
  const { metadata } = await content();
  assert.deepEqual(metadata.labels, { app: 'web', own: 'yes' });
  assert.equal(metadata.creationTimestamp, creationTimestamp);
  assert.deepEqual((await patch({ labels: { own: null, tier: 'y' } })).labels, { app: 'web', tier: 'y' });
});

test('a patched label of a running or terminated pod is visible at once and restarts no container', async (t) => {
  const { fake, manifests, call } = await serve(t, '');
  using _following = followDirectory(fake, manifests);
  const spec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox:1' }] };
  await call('POST', '/podwright/v1/apply', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec });
  const running = await fake.pod('a', ({ status }) => status?.phase === 'Running');
  const patch = (value: string) =>
    call('PATCH', '/api/v1/namespaces/default/pods/a', { metadata: { labels: { app: value } } });
  assert.equal((await patch('web')).body.metadata.labels.app, 'web');
  const labelled = await fake.pod('a', () => true);
  assert.equal(labelled.metadata.uid, running.metadata.uid);
  assert.deepEqual(labelled.status!.containerStatuses, running.status!.containerStatuses);
  const { containerID } = running.status!.containerStatuses![0]!;
  fake.runtime.exitContainer(containerID!.replace(/^.*:\/\//, ''), { exitCode: 0 });
  await fake.pod('a', ({ status }) => status?.phase === 'Succeeded');
  assert.equal((await patch('db')).body.metadata.labels.app, 'db');
});

test('a JSON patch changes the labels of an applied object, and nothing else', async (t) => {
  const { fake, manifests, call } = await serve(t, '');
  using _following = followDirectory(fake, manifests);
  const metadata = { name: 'c', labels: { app: 'web' } };
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { key: 'x' } };
  assert.equal((await call('POST', '/podwright/v1/apply', manifest)).status, 200);
  const path = '/api/v1/namespaces/default/configmaps/c';
  while ((await call('GET', path)).status !== 200);
  const patched = await call('PATCH', path, [
    { op: 'test', path: '/metadata/labels/app', value: 'web' },
    { op: 'replace', path: '/metadata/labels/app', value: 'db' },
    { op: 'add', path: '/metadata/annotations', value: { note: 'n' } },
  ]);
  assert.deepEqual([patched.body.metadata.labels, patched.body.metadata.annotations.note], [{ app: 'db' }, 'n']);
  const check = async (operation: object, why: RegExp) => {
    const { status, body } = await call('PATCH', path, [operation]);
    assert.equal(status, 400);
    assert.match(body.message, why);
  };
  await check(
    { op: 'remove', path: '/metadata/labels/none' },
    /remove \/metadata\/labels\/none: the field does not exist$/,
  );
  await check({ op: 'replace', path: '/data/key', value: 'y' }, /^read the patch: data: cannot be patched/);
});

test('only one of several concurrent JSON patches testing the same value succeeds, and no added label is lost', async (t) => {
  const { fake, manifests, call } = await serve(t, '');
  using _following = followDirectory(fake, manifests);
  const file = pod('c', 'k: free').replace("'busybox:1'", 'i, resources: {requests: {cpu: 10m}}');
  assert.equal((await call('POST', '/podwright/v1/apply', file + configMap('m', 'x'))).status, 200);
  const [path, map] = ['/api/v1/namespaces/default/pods/c', '/api/v1/namespaces/default/configmaps/m'];
  const race = async (url: string, ...patches: object[][]) =>
    (await Promise.all(patches.map((patch) => call('PATCH', url, patch)))).map(({ status }) => status).toSorted();
  const set = (field: string, value: unknown) => ({ op: 'add', path: field, value });
  const check = async (url: string, [field, old]: [string, unknown], changed = field) => {
    const patch = (value: string) => [{ ...set(field, old), op: 'test' }, set(changed, value)];
    assert.deepEqual(await race(url, patch('2'), patch('3'), patch('4')), [200, 400, 400], field);
  };
  await check(path, ['/metadata/labels/k', 'free']);
  await check(`${path}/resize`, ['/spec/containers/0/resources/requests/cpu', '10m']);
  const { resourceVersion } = (await call('GET', map)).body.metadata;
  await check(map, ['/metadata/resourceVersion', resourceVersion], '/metadata/labels/k');
  const debug = (name: string) => [set('/spec/ephemeralContainers/-', { name, image: 'i' })];
  const debugs = `${path}/ephemeralcontainers`;
  const list = [set('/spec/ephemeralContainers', [{ name: 'a', image: 'i' }])];
  assert.deepEqual([await race(debugs, list), await race(debugs, debug('b'), debug('c'))], [[200], [200, 200]]);
});

test('lists are sorted by namespace and name, regardless of creation order', async (t) => {
  const { fake, call } = await serve(t, pod('m', 'a: b') + pod('z', 'a: b') + configMap('m', 'x'));
  await fake.pod('z', ({ status }) => status?.phase === 'Running');
  fake.apply(
    pod('m', 'a: b') +
      pod('z', 'a: b') +
      pod('b', 'a: b') +
      pod('x', 'a: b', 'a') +
      configMap('m', 'x') +
      configMap('a', 'x'),
  );
  await fake.pod('x', ({ status }) => status?.phase === 'Running');
  assert.equal(names(await call('GET', '/api/v1/pods')), 'x b m z');
  assert.equal(names(await call('GET', '/api/v1/configmaps')), 'a m');
});

test('a patch of an object that was not applied, or of other fields than labels and annotations, is refused', async (t) => {
  const { fake, call, manifests } = await serve(t, pod('a', '') + configMap('c', 'x'));
  await fake.pod('a', () => true);
  const check = async (path: string, body: object, message: RegExp) => {
    const answer = await call('PATCH', `/api/v1/namespaces/default/${path}`, body);
    assert.match(answer.body.message, message);
    assert.ok(answer.status === 400 || answer.status === 409 || answer.status === 404);
  };
  const label = { metadata: { labels: { a: 'b' } } };
  await check('pods/a', label, /^patch pod default\/a: it comes from test\.yaml; change it there$/);
  await check('configmaps/c', label, new RegExp(`^patch configmap default/c: it comes from a file in ${manifests};`));
  await check('pods/nope', label, /^there is no pod default\/nope/);
  await check('pods/a', { spec: {} }, /^read the patch: spec: cannot be patched/);
  await check('pods/a', { metadata: { name: 'b' } }, /metadata\.name: cannot be patched, only labels and annotations$/);
  await check('pods/a', { metadata: { labels: { a: 1 } } }, /metadata\.labels\[a\]: must be a string, or null/);
  await check('pods/a', { metadata: { labels: null } }, /metadata\.labels: must be a map$/);
  const own = { metadata: { annotations: { 'podwright.dev/config.file': '/x' } } };
  await check('pods/a', own, /is set by the node$/);
  writeFileSync(join(manifests, 'applied-configmap_default_c.json'), '{"metadata":{}}');
  await check('configmaps/c', { metadata: { labels: { '-': 'x' } } }, /^patch configmap c: /);
});

test('ephemeral containers are added like in the Kubernetes API', async (t) => {
  const { fake, call } = await serve(t, pod('web', 'app: web'));
  await fake.pod('web', ({ status }) => status?.phase === 'Running');
  const path = '/api/v1/namespaces/default/pods/web/ephemeralcontainers';
  const names = ({ body }: Answer) =>
    (body as unknown as { spec: { ephemeralContainers?: { name: string }[] } }).spec.ephemeralContainers?.map(
      ({ name }) => name,
    );
  const patch = (...containers: object[]) => ({ spec: { ephemeralContainers: containers } });
  assert.deepEqual(names(await call('GET', path)), undefined);
  const shell = { name: 'shell', image: 'busybox:1', targetContainerName: 'main' };
  assert.deepEqual(names(await call('PATCH', path, patch(shell))), ['shell']);
  assert.deepEqual(names(await call('PATCH', path, patch({ name: 'two', image: 'busybox:1' }))), ['shell', 'two']);
  const refused = await call('PATCH', path, patch({ name: 'bad', image: 'busybox:1', ports: [{ containerPort: 1 }] }));
  assert.equal(refused.status, 400);
  assert.match(refused.body.message, /spec\.ephemeralContainers\[2\]\.ports: cannot be set for an ephemeral container/);
  const unknown = await call('PATCH', path, patch({ name: 'x', image: 'y', imag: 'z' }));
  assert.match(unknown.body.message, /spec\.ephemeralContainers\[0\]\.imag: unknown field; did you mean "image"/);
  assert.equal((await call('PATCH', path.replace('/web/', '/none/'), patch(shell))).status, 404);
  assert.equal((await call('PUT', path, { spec: { ephemeralContainers: [] } })).status, 400, 'none can be removed');
});

test('an applied pod is resized like in the Kubernetes API', async (t) => {
  const { fake, manifests, call } = await serve(t, '');
  using _followed = followDirectory(fake, manifests);
  const resources = { requests: { cpu: '100m' } };
  const spec = { containers: [{ name: 'main', image: 'busybox:1', resources }] };
  const metadata = { name: 'web' };
  await call('POST', '/podwright/v1/apply', { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  const before = await fake.pod('web', ({ status }) => status?.phase === 'Running');
  const path = '/api/v1/namespaces/default/pods/web/resize';
  const patch = (requests: object) => ({ spec: { containers: [{ name: 'main', resources: { requests } }] } });
  assert.equal((await call('PATCH', path, patch({ cpu: '200m' }))).status, 200);
  const allocated = (cpu: string) => () =>
    fake.handle.pod('default', 'web').status?.containerStatuses?.[0]?.allocatedResources?.cpu === cpu;
  await fake.until('it is resized', allocated('200m'));
  assert.equal(fake.handle.pod('default', 'web').metadata.uid, before.metadata.uid);
  assert.equal((await call('PATCH', path, patch({ memory: '64Mi' }))).status, 200, 'amounts can be added');
  const refused = await call('PATCH', path, patch({ 'ephemeral-storage': '1Gi' }));
  assert.equal(refused.status, 400);
  assert.match(refused.body.message, /only cpu and memory can be changed/);
  const other = await call('PATCH', path, { spec: { containers: [{ name: 'nope', resources: {} }] } });
  assert.deepEqual([other.status, other.body.message], [400, 'resize pod default/web: it has no container nope']);
  const whole = { spec: { resources: { requests: { cpu: '300m' } } } };
  assert.equal((await call('PATCH', path, whole)).status, 200, 'pod-level resources can change, too');
  const podHas = () => fake.handle.pod('default', 'web').status?.resources?.requests?.cpu === '300m';
  await fake.until('the pod is resized as a whole', podHas);
  assert.match((await call('PATCH', path, patch({ cpu: 'much' }))).body.message, /must be a quantity/);
});

test('a status patch opens and closes a readiness gate, which survives a restart', async (t) => {
  const gated = pod('a', '').replace('spec: {', 'spec: {readinessGates: [{conditionType: example.com/open}], ');
  const { fake, call } = await serve(t, gated);
  const path = '/api/v1/namespaces/default/pods/a/status';
  const isReady = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  await fake.pod('a', (one) => one.status?.phase === 'Running' && !isReady(one));
  const set = (type: string, status: string, more: object = {}) =>
    call('PATCH', path, { status: { conditions: [{ type, status, ...more }] } });
  assert.equal((await set('example.com/open', 'True')).status, 200);
  await fake.pod('a', isReady);
  const check = async (type: string, message: RegExp, more: object = {}, status = 'True') => {
    const answer = await set(type, status, more);
    assert.deepEqual([answer.status, message.test(answer.body.message)], [400, true], answer.body.message);
  };
  await check('Ready', /^patch the status: the condition Ready is the kubelet's own$/, {}, 'False');
  await check('a b', /^read the patch: status\.conditions\[0\]\.type: must be letters/);
  await check('a', /conditions\[0\]\.status: must be one of True, False, Unknown/, {}, 'Yes');
  await check('a', /conditions\[0\]\.reason: must be at most 1024 characters/, { reason: 'x'.repeat(1025) });
  await check('a', /conditions\[0\]\.since: unknown field/, { since: 1 });
  const phase = await call('PATCH', path, { status: { phase: 'Failed' } });
  assert.match(phase.body.message, /^read the patch: status\.phase: unknown field/);
  assert.equal((await call('PATCH', path.replace('/a/', '/nope/'), {})).status, 404);
  await fake.restart();
  await fake.pod('a', isReady);
});

test('a watch whose client reads too slowly ends with 410 Expired', async (t) => {
  const { fake, tables: get } = await serve(t, '');
  const response = await get('/api/v1/configmaps?watch=true');
  const config = (value: number) => ({
    apiVersion: 'v1' as const,
    kind: 'ConfigMap' as const,
    metadata: { name: 'a', namespace: 'default', uid: '' },
    data: { value: String(value) },
  });
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  t.after(() => process.off('warning', onWarning));
  for (let value = 0; value <= 10_000; value++) fake.handle.objects.replace([config(value)]);
  let last = '';
  for await (const line of createInterface({ input: response })) last = line;
  const { type, object } = JSON.parse(last);
  assert.deepEqual([type, object.kind, object.code, object.reason], ['ERROR', 'Status', 410, 'Expired']);
  assert.deepEqual(warnings, [], 'no listeners leak');
});
