import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '@podwright/api-machinery';
import { decodeObject, type Resource, Schema } from '@podwright/kube-schema';
import { pathRequest } from '../path-request.fixture.ts';
import { Discovery } from './discovery.ts';

const schema = await Schema.load();
const ours = (names: string[]) =>
  schema.resources.filter(({ group, version, plural }) => names.includes(`${group}/${version}/${plural}`));

const SERVED = ['/v1/pods', '/v1/bindings', 'apps/v1/deployments', 'autoscaling/v1/horizontalpodautoscalers'];
const of = (resources: readonly Resource[]) => new Discovery({ schema, resources, serverAddress: '127.0.0.1:6443' });
const discovery = of(ours([...SERVED, 'autoscaling/v2/horizontalpodautoscalers']));

const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const V2_BETA = V2.replace('v2', 'v2beta1');
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

const get = async (path: string, headers: Record<string, string> = {}) =>
  (await discovery.respond(pathRequest(path, headers)))!;
const json = async (path: string) => JSON.parse(String((await get(path)).body));

async function refused(path: string, headers: Record<string, string> = {}, method = 'GET') {
  try {
    const response = await discovery.respond(pathRequest(path, headers, method));
    return response === undefined ? 'not discovery' : `${response.status} ${response.body}`.trim();
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return `${error.status.code} ${error.status.reason}`;
  }
}

describe('discovery of single group versions', () => {
  it('lists groups with the preferred version first', async () => {
    const versions = [
      { groupVersion: 'autoscaling/v2', version: 'v2' },
      { groupVersion: 'autoscaling/v1', version: 'v1' },
    ];
    const autoscaling = { name: 'autoscaling', versions, preferredVersion: versions[0] };
    const { kind, apiVersion, groups } = await json('/apis');
    assert.deepEqual([kind, apiVersion], ['APIGroupList', 'v1']);
    assert.deepEqual(
      groups.map(({ name }: { name: string }) => name),
      ['apps', 'autoscaling'],
    );
    assert.deepEqual(groups[1], autoscaling);
    assert.deepEqual(await json('/apis/autoscaling/'), { kind: 'APIGroup', apiVersion: 'v1', ...autoscaling });
    assert.deepEqual(await json('/api'), {
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
    });
  });

  it('lists only the resources that are served, with subresources of other groups', async () => {
    const { groupVersion, apiVersion, resources } = await json('/api/v1');
    assert.deepEqual([groupVersion, apiVersion], ['v1', undefined]);
    const names = resources.map(({ name }: { name: string }) => name);
    assert.deepEqual(names.slice(0, 3), ['bindings', 'pods', 'pods/attach']);
    const byName = Object.fromEntries(resources.map((one: { name: string }) => [one.name, one]));
    assert.deepEqual(byName.pods, {
      name: 'pods',
      singularName: 'pod',
      namespaced: true,
      kind: 'Pod',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['po'],
      categories: ['all'],
      storageVersionHash: 'xPOwRZ+Yhw8=',
    });
    assert.equal(byName.bindings.storageVersionHash, undefined);
    assert.deepEqual(byName['pods/eviction'], {
      name: 'pods/eviction',
      singularName: '',
      namespaced: true,
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    });
  });

  it('responds in the media type that the client accepts', async () => {
    const plain = await json('/apis/apps/v1');
    const protobuf = await get('/apis/apps/v1', { accept: `${PROTOBUF},application/json` });
    assert.equal(protobuf.headers['content-type'], PROTOBUF);
    assert.deepEqual(decodeObject(schema, protobuf.body as Uint8Array), plain);
    const yaml = await get('/apis/apps', { accept: 'application/yaml' });
    assert.equal(yaml.headers['content-type'], 'application/yaml');
    assert.match(String(yaml.body), /^apiVersion: v1\nkind: APIGroup\nname: apps\npreferredVersion:\n {2}groupVersion/);
  });

  it('indents JSON for people', async () => {
    const check = async (target: string, headers: Record<string, string>, isIndented: boolean) =>
      assert.equal(String((await get(target, headers)).body).startsWith('{\n  "kind"'), isIndented, target);
    await check('/apis/apps', {}, false);
    await check('/apis/apps', { 'user-agent': 'curl/8.0' }, true);
    await check('/apis/apps?pretty=true', {}, true);
    await check('/apis/apps?pretty=0', { 'user-agent': 'Mozilla/5.0 (X11)' }, false);
    await check('/apis/apps', { accept: 'application/json;pretty=1' }, true);
  });
});

describe('aggregated discovery', () => {
  it('has the core group at /api and all others at /apis', async () => {
    const core = await get('/api', { accept: V2 });
    assert.equal(core.headers['content-type'], V2);
    const { items, ...rest } = JSON.parse(String(core.body));
    assert.deepEqual(rest, { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {} });
    assert.equal(items.length, 1);
    const [bindings, pods] = items[0].versions[0].resources;
    assert.deepEqual(bindings, {
      resource: 'bindings',
      responseKind: { group: '', version: '', kind: 'Binding' },
      scope: 'Namespaced',
      singularResource: 'binding',
      verbs: ['create'],
    });
    assert.deepEqual(pods.subresources[3], {
      subresource: 'eviction',
      responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      verbs: ['create'],
    });
    const others = JSON.parse(String((await get('/apis', { accept: V2 })).body));
    assert.deepEqual(
      others.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
      ['apps', 'autoscaling'],
    );
    assert.equal(others.items[0].versions[0].freshness, 'Current');
  });

  it('is chosen by the first clause that requests it', async () => {
    const check = async (accept: string, contentType: string) =>
      assert.equal((await get('/apis', { accept })).headers['content-type'], contentType);
    await check(`${V2},${V2_BETA},application/json`, V2);
    await check(`${V2_BETA},application/json`, V2_BETA);
    await check(`application/json,${V2}`, V2);
    await check(V2.replace('application/json', PROTOBUF), V2.replace('application/json', PROTOBUF));
    await check(V2.replace('v2', 'v3').concat(',application/json'), 'application/json');
    await check('application/json;as=Table;v=v1;g=meta.k8s.io,application/yaml', 'application/yaml');
  });

  it('is not sent again to a client that has it', async () => {
    const { etag, vary } = (await get('/apis', { accept: V2 })).headers;
    assert.equal(vary, 'Accept');
    const again = await get('/apis', { accept: V2, 'if-none-match': etag! });
    assert.deepEqual([again.status, again.body, again.headers.etag], [304, '', etag]);
    assert.equal((await get('/apis', { accept: V2, 'if-none-match': '"old"' })).status, 200);
    const more = await of(schema.resources).respond(pathRequest('/apis', { accept: V2, 'if-none-match': etag! }));
    assert.equal(more!.status, 200);
  });
});

describe('requests that discovery refuses', () => {
  it('are answered as upstream does', async () => {
    assert.equal(await refused('/apis/example.com'), '404 404 page not found');
    assert.equal(await refused('/apis/example.com/v1'), '404 404 page not found');
    assert.equal(await refused('/apis/apps/v2'), '404 NotFound');
    assert.equal(await refused('/api/v2'), '404 NotFound');
    assert.equal(await refused('/apis/'.concat('constructor')), '404 404 page not found');
    assert.equal(await refused('/apis//v1'), '404 404 page not found');
    assert.equal(await refused('/apis', { accept: 'text/html' }), '406 NotAcceptable');
    assert.equal(await refused('/api/v1', { accept: V2 }), '406 NotAcceptable');
    assert.equal(await refused('/apis/apps', {}, 'POST'), '405 MethodNotAllowed');
    assert.equal(await refused('/api', {}, 'DELETE'), '405 MethodNotAllowed');
    assert.equal(await refused('/api/v1/pods'), 'not discovery');
    assert.equal(await refused('/apis/apps/v1/deployments'), 'not discovery');
    assert.equal(await refused('/version'), 'not discovery');
  });

  it('for unknown resources depend on the group', () => {
    assert.throws(() => discovery.unknownResource('apps'), /the server could not find the requested resource/);
    assert.equal(discovery.unknownResource('example.com').body, '404 page not found\n');
  });
});

describe('the paths of discovery', () => {
  it('are listed', () => {
    const groups = ['/apis/apps', '/apis/apps/v1', '/apis/autoscaling', '/apis/autoscaling/v2', '/apis/autoscaling/v1'];
    assert.deepEqual(discovery.paths, ['/api', '/apis', '/apis/', '/api/v1', ...groups]);
  });
});
