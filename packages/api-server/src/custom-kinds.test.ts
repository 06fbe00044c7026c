/** Tests of custom resources on a complete server. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { MemoryStore } from '@podwright/api-machinery';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { Schema } from '@podwright/kube-schema';
import { CustomKinds } from './custom-kinds.ts';
import { type Answer, eventsOf, open, send } from './server/test-client.fixture.ts';
import { type ApiServer, startApiServer } from './start-api-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'api-server-'));
const socketPath = join(directory, 'api.sock');
let server: ApiServer;

const start = async () => {
  server = await startApiServer({ directory: join(directory, 'data'), socketPath, logger: silentLogger });
};
before(start);
after(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

type Sent = { body?: unknown; type?: string; accept?: string };

function call(method: string, path: string, { body, type = 'application/json', accept }: Sent = {}): Promise<Answer> {
  const headers = { 'content-type': type, ...(accept !== undefined && { accept }) };
  const sent = { method, path, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  return send({ socketPath, port: 0, certificate: '' }, 'the unix socket', sent);
}

async function eventually(check: () => Promise<boolean>): Promise<void> {
  using signal = withTimeout(undefined, 10_000, 'wait for the server');
  await waitFor(async () => (await check()) || undefined, { intervalMs: 10, signal });
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = '/apis/example.com';
const FOOS = `${GROUP}/v1/namespaces/default/foos`;
const MERGE = 'application/merge-patch+json';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

const SPEC = {
  type: 'object',
  properties: {
    size: { type: 'integer', minimum: 0, default: 1 },
    color: { type: 'string', enum: ['red', 'blue'] },
    parts: {
      ...{ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
      items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, n: { type: 'integer' } } },
    },
  },
};
const STATUS = { type: 'object', properties: { size: { type: 'integer' } } };
const schema = { openAPIV3Schema: { type: 'object', properties: { spec: SPEC, status: STATUS } } };
const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' };
const VERSION = {
  ...{ name: 'v1', served: true, storage: true, schema, subresources: { status: {}, scale } },
  additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
  selectableFields: [{ jsonPath: '.spec.color' }],
};

function definition(name: string, kind: string, spec: object = {}) {
  const names = { plural: name, kind, shortNames: [name.slice(0, 2)], categories: ['all'] };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `${name}.example.com` },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions: [VERSION], ...spec },
  };
}

async function define(name: string, kind: string, spec?: object): Promise<void> {
  const created = await call('POST', DEFINITIONS, { body: definition(name, kind, spec) });
  assert.equal(created.status, 201, created.text);
  await eventually(async () => (await call('GET', `${GROUP}/v1/${name}`)).status === 200);
}

const foo = (name: string, spec: object = {}, kind = 'Foo') => ({
  ...{ apiVersion: 'example.com/v1', kind, metadata: { name }, spec },
});

async function createFoo(name: string, spec: object = {}) {
  const created = await call('POST', FOOS, { body: foo(name, spec) });
  assert.equal(created.status, 201, created.text);
  return created.json();
}

test('the server serves the kind of a definition, in all documents', async () => {
  assert.equal((await call('GET', GROUP)).text, '404 page not found\n');
  await define('foos', 'Foo');
  const { resources } = (await call('GET', `${GROUP}/v1`)).json();
  assert.deepEqual(
    resources.map(({ name }: { name: string }) => name),
    ['foos', 'foos/status', 'foos/scale'],
  );
  const { components } = (await call('GET', `/openapi/v3${GROUP}/v1`)).json();
  const { Foo, FooList } = Object.fromEntries(
    ['Foo', 'FooList'].map((kind) => [kind, components.schemas[`com.example.v1.${kind}`]]),
  );
  assert.equal(Foo.properties.spec.properties.size.minimum, 0);
  for (const one of [Foo, FooList])
    assert.deepEqual(one['x-kubernetes-selectable-fields'], [{ fieldPath: 'spec.color' }]);
  assert.equal('default' in FooList.properties.metadata, false);
  assert.ok((await call('GET', '/openapi/v2')).json().definitions['com.example.v1.Foo']);
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const { items } = (await call('GET', '/apis', { accept })).json();
  const group = items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === 'example.com');
  const responseKind = { group: 'example.com', version: 'v1', kind: 'Foo' };
  assert.deepEqual(group.versions[0].resources[0].responseKind, responseKind);
  const { status } = (await call('GET', `${DEFINITIONS}/foos.example.com`)).json();
  assert.deepEqual(
    status.conditions.map((one: { type: string; status: string }) => `${one.type} ${one.status}`),
    ['NamesAccepted True', 'Established True'],
  );
});

test('objects get defaults and generations, and undeclared fields are pruned', async () => {
  const created = await createFoo('a', { color: 'red', other: 1 });
  assert.deepEqual(created.spec, { color: 'red', size: 1 });
  assert.equal(created.metadata.generation, 1);
  const patched = (await call('PATCH', `${FOOS}/a`, { type: MERGE, body: { spec: { size: 2 } } })).json();
  assert.equal(patched.metadata.generation, 2);
  const status = { status: { size: 5 }, spec: { size: 9 } };
  const written = (await call('PATCH', `${FOOS}/a/status`, { type: MERGE, body: status })).json();
  assert.deepEqual([written.spec.size, written.status.size, written.metadata.generation], [2, 5, 2]);
  const scaled = (await call('PATCH', `${FOOS}/a/scale`, { type: MERGE, body: { spec: { replicas: 3 } } })).json();
  assert.deepEqual([scaled.kind, scaled.spec.replicas, scaled.status.replicas], ['Scale', 3, 5]);
  const { managedFields } = (await call('GET', `${FOOS}/a`)).json().metadata;
  const { apiVersion, fieldsV1 } = managedFields.find((one: { subresource?: string }) => one.subresource === 'scale');
  assert.deepEqual([apiVersion, fieldsV1], ['example.com/v1', { 'f:spec': { 'f:size': {} } }]);
});

test('invalid objects and unsupported media types are refused', async () => {
  const invalid = await call('POST', FOOS, { body: foo('b', { color: 'green' }) });
  assert.equal(invalid.status, 422);
  assert.equal(
    invalid.json().message,
    'Foo.example.com "b" is invalid: spec.color: Unsupported value: "green": supported values: "red", "blue"',
  );
  const strict = await call('POST', `${FOOS}?fieldValidation=Strict`, { body: foo('b', { x: 1 }) });
  assert.match(strict.json().message, /strict decoding error: unknown field "spec.x"$/);
  assert.equal((await call('POST', FOOS, { body: foo('b', {}, 'Bar') })).status, 422);
  const type = 'application/strategic-merge-patch+json';
  assert.equal((await call('PATCH', `${FOOS}/a`, { type, body: {} })).status, 415);
  const patched = async (body: object) => (await call('PATCH', `${FOOS}/a`, { type: MERGE, body })).json().message;
  const other = await patched({ kind: 'Pod', apiVersion: 'v1' });
  assert.equal(
    other,
    'Pod "a" is invalid: [kind: Invalid value: "Pod": must be Foo, apiVersion: Invalid value: "v1": must be example.com/v1]',
  );
  assert.match(await patched({ kind: null }), /Object 'Kind' is missing in '\{/);
  assert.match(await patched({ apiVersion: null }), /Object 'apiVersion' is missing/);
  assert.equal((await call('GET', FOOS, { accept: 'application/vnd.kubernetes.protobuf' })).status, 406);
});

test('apply, field selectors and tables follow the definition', async () => {
  const type = 'application/apply-patch+yaml';
  const apply = (manager: string, parts: object[]) =>
    call('PATCH', `${FOOS}/c?fieldManager=${manager}`, { type, body: foo('c', { color: 'blue', parts }) });
  assert.equal((await apply('one', [{ name: 'x', n: 1 }])).status, 201);
  assert.deepEqual((await apply('two', [{ name: 'y', n: 2 }])).json().spec.parts, [
    { name: 'x', n: 1 },
    { name: 'y', n: 2 },
  ]);
  assert.equal((await apply('two', [{ name: 'x', n: 2 }])).status, 409);
  const wrong = (await apply('two', 'x' as never)).json().message;
  assert.match(wrong, /^failed to create typed patch object .*: \.spec\.parts: expected list, got &\{x\}$/);
  const { items } = (await call('GET', `${FOOS}?fieldSelector=spec.color=blue`)).json();
  assert.deepEqual(
    items.map((one: ReturnType<typeof foo>) => `${one.kind} ${one.metadata.name}`),
    ['Foo c'],
  );
  const { columnDefinitions, rows } = (await call('GET', `${FOOS}/c`, { accept: TABLE })).json();
  assert.deepEqual(
    columnDefinitions.map(({ name }: { name: string }) => name),
    ['Name', 'Size'],
  );
  assert.deepEqual(rows[0].cells, ['c', 1]);
});

test('the status and the rest of an object have separate owners', async () => {
  const type = 'application/apply-patch+yaml';
  const body = { ...foo('s', { size: 1 }), status: { size: 7 } };
  const apply = (path: string, manager: string) =>
    call('PATCH', `${FOOS}/s${path}?fieldManager=${manager}`, { type, body });
  const owned = (answer: Answer) =>
    answer
      .json()
      .metadata.managedFields.map(
        ({ manager, subresource = '', fieldsV1 }: { manager: string; subresource?: string; fieldsV1: object }) =>
          `${manager}${subresource} ${Object.keys(fieldsV1)}`,
      );
  const main = await apply('', 'user');
  assert.deepEqual([main.status, main.json().status, owned(main)], [201, undefined, ['user f:spec']]);
  const status = await apply('/status', 'controller');
  assert.deepEqual([status.status, status.json().status], [200, { size: 7 }]);
  assert.deepEqual(owned(status), ['controllerstatus f:status', 'user f:spec']);
  const other = { ...body, metadata: { name: 's', labels: { a: 'b' } }, spec: { size: 5 }, status: { size: 8 } };
  const labelled = await call('PATCH', `${FOOS}/s/status?fieldManager=other&force=true`, { type, body: other });
  const { metadata, spec, status: written } = labelled.json();
  assert.deepEqual([metadata.labels, spec, written], [undefined, { size: 1 }, { size: 8 }]);
  assert.deepEqual(owned(labelled), ['otherstatus f:status', 'user f:spec']);
  assert.equal((await call('DELETE', `${FOOS}/s`)).status, 200);
});

test('a definition with conflicting names is not served', async () => {
  const body = definition('oofs', 'Foo');
  assert.equal((await call('POST', DEFINITIONS, { body })).status, 201);
  const find = async () => (await call('GET', `${DEFINITIONS}/oofs.example.com`)).text;
  await eventually(async () => (await find()).includes('KindConflict') || (await find()).includes('is already in use'));
  assert.equal((await call('GET', `${GROUP}/v1/oofs`)).status, 404);
  assert.equal((await call('DELETE', `${DEFINITIONS}/oofs.example.com`)).status, 200);
  await eventually(async () => (await call('GET', `${DEFINITIONS}/oofs.example.com`)).status === 404);
});

test('definitions that are not structural, or need a webhook, are refused', async () => {
  const refused = async (spec: object, message: RegExp) => {
    const answer = await call('POST', DEFINITIONS, { body: definition('bars', 'Bar', spec) });
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.json().message, message);
  };
  const open = { openAPIV3Schema: { type: 'object', properties: { spec: {} } } };
  const plain = { ...VERSION, subresources: {}, selectableFields: [] };
  await refused({ versions: [{ ...plain, schema: open }] }, /type: Required value: must not be empty for specified/);
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com' } };
  await refused({ conversion: { strategy: 'Webhook', webhook } }, /does not call conversion webhooks/);
});

test('owner references, namespaces and quotas include custom resources', async () => {
  const { metadata } = await createFoo('owner');
  const owner = { apiVersion: 'example.com/v1', kind: 'Foo', name: 'owner', uid: metadata.uid };
  const owned = { metadata: { name: 'owned', ownerReferences: [owner] } };
  const maps = '/api/v1/namespaces/default/configmaps';
  assert.equal((await call('POST', maps, { body: owned })).status, 201);
  assert.equal((await call('DELETE', `${FOOS}/owner`)).status, 200);
  await eventually(async () => (await call('GET', `${maps}/owned`)).status === 404);
  const inSpace = `${GROUP}/v1/namespaces/space/foos`;
  assert.equal((await call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'space' } } })).status, 201);
  const quota = { metadata: { name: 'q' }, spec: { hard: { 'count/foos.example.com': '1' } } };
  assert.equal((await call('POST', '/api/v1/namespaces/space/resourcequotas', { body: quota })).status, 201);
  assert.equal((await call('POST', inSpace, { body: foo('one') })).status, 201);
  const second = await call('POST', inSpace, { body: foo('two') });
  assert.match(second.json().message, /exceeded quota: q, requested: count\/foos.example.com=1/);
  assert.equal((await call('DELETE', '/api/v1/namespaces/space')).status, 200);
  await eventually(async () => (await call('GET', '/api/v1/namespaces/space')).status === 404);
  assert.deepEqual((await call('GET', inSpace)).json().items, []);
});

test('a changed definition applies to stored objects, and ends their watches', async () => {
  const endpoint = { socketPath, port: 0, certificate: '' };
  const watch = await open(endpoint, 'the unix socket', { path: `${FOOS}?watch=1` });
  const events = eventsOf(watch.body);
  assert.equal((await events.next()).value.type, 'ADDED');
  const properties = { ...SPEC.properties, more: { type: 'string', default: 'new' }, color: { type: 'string' } };
  const changed = {
    openAPIV3Schema: { type: 'object', properties: { spec: { ...SPEC, properties }, status: STATUS } },
  };
  const versions = [
    { ...VERSION, schema: changed },
    { ...VERSION, name: 'v2', schema: changed, storage: false },
  ];
  const path = `${DEFINITIONS}/foos.example.com`;
  const patched = await call('PATCH', path, { type: MERGE, body: { spec: { versions } } });
  assert.equal(patched.status, 200, patched.text);
  await eventually(async () => (await call('GET', `${GROUP}/v2`)).status === 200);
  assert.equal((await call('GET', `${FOOS}/c`)).json().spec.more, 'new');
  const served = (await call('GET', `${GROUP}/v2/namespaces/default/foos/c`)).json();
  assert.deepEqual([served.apiVersion, served.spec.color], ['example.com/v2', 'blue']);
  for (let ended = await events.next(); ended.done !== true; ended = await events.next()) assert.ok(ended.value);
  const again = await open(endpoint, 'the unix socket', { path: `${FOOS}?watch=1` });
  assert.equal((await eventsOf(again.body).next()).value.object.spec.more, 'new');
  again.close();
});

test('fields declared only in a version other than the stored one are validated but not stored', async () => {
  const own = { ...SPEC.properties, extra: { type: 'integer', maximum: 5 } };
  const ownSchema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { ...SPEC, properties: own }, status: STATUS } },
  };
  const versions = [VERSION, { ...VERSION, name: 'v2', schema: ownSchema, storage: false }];
  const path = `${DEFINITIONS}/foos.example.com`;
  assert.equal((await call('PATCH', path, { type: MERGE, body: { spec: { versions } } })).status, 200);
  const FOOS2 = `${GROUP}/v2/namespaces/default/foos`;
  const foo2 = (extra: number) => ({ ...foo('two', { extra, color: 'red' }), apiVersion: 'example.com/v2' });
  await eventually(async () => (await call('POST', FOOS2, { body: foo2(6) })).text.includes('less than or equal to 5'));
  const created = (await call('POST', FOOS2, { body: foo2(3) })).json();
  assert.deepEqual(created.spec, { color: 'red', size: 1 });
  const put = { ...created, spec: { ...created.spec, extra: 4 } };
  for (const dryRun of ['?dryRun=All', '']) {
    const { spec, metadata } = (await call('PUT', `${FOOS2}/two${dryRun}`, { body: put })).json();
    assert.deepEqual([spec.extra, metadata.generation], [undefined, 2]);
  }
  const stored = server.store.get({ resource: 'foos.example.com', namespace: 'default', name: 'two' })!.decode();
  assert.deepEqual([stored.apiVersion, stored.spec], ['example.com/v1', { color: 'red', size: 1 }]);
  assert.equal((await call('DELETE', `${FOOS2}/two`)).status, 200);
});

test('the number of definitions is limited', async () => {
  const custom = new CustomKinds(await Schema.load(), new MemoryStore(), 0);
  await custom.load();
  const errors = custom.definitionStrategy(Date.now).validate!(definition('foos', 'Foo') as never);
  assert.ok(errors.some(({ message }) => message.endsWith('serves 0 CustomResourceDefinitions at most')));
});

test('custom resources survive a restart', async () => {
  await server.stop();
  await start();
  assert.equal((await call('GET', `${FOOS}/c`)).status, 200);
});

test('deleting a definition deletes its objects first', async () => {
  const finalizers = { metadata: { finalizers: ['example.com/slow'] } };
  assert.equal((await call('PATCH', `${FOOS}/c`, { type: MERGE, body: finalizers })).status, 200);
  assert.equal((await call('DELETE', `${DEFINITIONS}/foos.example.com`)).status, 200);
  await eventually(async () => (await call('GET', `${FOOS}/a`)).status === 404);
  const late = await call('POST', FOOS, { body: foo('late') });
  assert.deepEqual([late.status, (await call('GET', `${FOOS}/c`)).status], [403, 200]);
  assert.match(late.json().message, /create not allowed while custom resource definition is terminating/);
  assert.equal(
    (await call('PATCH', `${FOOS}/c`, { type: MERGE, body: { metadata: { finalizers: null } } })).status,
    200,
  );
  await eventually(async () => (await call('GET', `${DEFINITIONS}/foos.example.com`)).status === 404);
  await eventually(async () => (await call('GET', GROUP)).status === 404);
});

test('CEL rules are compiled with the definition and evaluated for objects', async () => {
  const spec = (rule: string) => ({
    ...{ type: 'object', properties: { size: { type: 'integer' } } },
    'x-kubernetes-validations': [{ rule, message: 'too small' }],
  });
  const versions = (rule: string) => ({
    versions: [
      {
        ...VERSION,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: spec(rule), status: STATUS } } },
        selectableFields: [],
      },
    ],
  });
  const refused = await call('POST', DEFINITIONS, { body: definition('ruleds', 'Ruled', versions('self.sice > 1')) });
  assert.equal(refused.status, 422);
  assert.match(
    refused.text,
    /x-kubernetes-validations\[0\]\.rule: .*compilation failed: ERROR: <input>:1:5: undefined field 'sice'/,
  );
  await define('ruleds', 'Ruled', versions('self.size > 1'));
  const path = `${GROUP}/v1/namespaces/default/ruleds`;
  await eventually(async () => {
    const { status } = await call('POST', path, { body: foo('small', { size: 1 }, 'Ruled') });
    return status === 422;
  });
  assert.equal((await call('POST', path, { body: foo('large', { size: 2 }, 'Ruled') })).status, 201);
  const patched = await call('PATCH', `${path}/large`, { body: { spec: { size: 0 } }, type: MERGE });
  assert.match(patched.text, /Ruled.example.com \\"large\\" is invalid: spec: Invalid value: too small/);
});
