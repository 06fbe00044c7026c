import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Schema } from '@podwright/kube-schema';
import { pathRequest } from '../path-request.fixture.ts';
import { OpenApi } from './openapi.ts';

const schema = await Schema.load();
const resources = schema.resources.filter(({ group }) => group === '' || group === 'apps');
const openApi = new OpenApi({ schema, resources, version: 'v1.36.0' });
const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

const get = async (target: string, headers: Record<string, string> = {}) =>
  (await openApi.respond(pathRequest(target, headers)))!;

async function indexOf(api: OpenApi): Promise<Record<string, { serverRelativeURL: string }>> {
  const response = await api.respond(pathRequest('/openapi/v3'));
  return JSON.parse(String(response!.body)).paths;
}
const index = await indexOf(openApi);

describe('the index of OpenAPI v3', () => {
  it('has the URL of each group version, with a hash of its content', async () => {
    assert.deepEqual(Object.keys(index), ['api/v1', 'apis/apps/v1']);
    assert.match(index['apis/apps/v1']!.serverRelativeURL, /^\/openapi\/v3\/apis\/apps\/v1\?hash=[\dA-F]{64}$/);
    const fewer = resources.filter(({ plural }) => plural !== 'daemonsets');
    const other = await indexOf(new OpenApi({ schema, resources: fewer, version: 'v1.36.0' }));
    assert.deepEqual(other['api/v1'], index['api/v1']);
    assert.notDeepEqual(other['apis/apps/v1'], index['apis/apps/v1']);
  });

  it('has no kinds that are not built in', async () => {
    const custom = { ...resources[0]!, group: 'example.com', plural: 'things', kind: 'Thing' };
    const api = new OpenApi({ schema, resources: [custom, ...resources], version: 'v1.36.0' });
    assert.deepEqual(await indexOf(api), index);
  });

  it('is not sent again to a client that has it', async () => {
    const { etag } = (await get('/openapi/v3')).headers;
    assert.equal((await get('/openapi/v3', { 'if-none-match': etag! })).status, 304);
  });
});

describe('documents of OpenAPI v3', () => {
  it('never change at a URL with their hash', async () => {
    const { headers, status } = await get(index['apis/apps/v1']!.serverRelativeURL);
    assert.deepEqual([status, headers['cache-control']], [200, 'public, immutable']);
    const years = (Date.parse(headers.expires!) - Date.now()) / (365 * 24 * 3600 * 1000);
    assert.ok(years > 0.99 && years < 1.01);
    assert.equal((await get('/openapi/v3/apis/apps/v1')).headers['cache-control'], undefined);
  });

  it('are elsewhere if the hash is that of another content', async () => {
    const { status, headers } = await get('/openapi/v3/apis/apps/v1?hash=OLD');
    assert.deepEqual([status, headers.location], [301, index['apis/apps/v1']!.serverRelativeURL]);
  });

  it('are compressed for clients that accept it', async () => {
    const plain = await get('/openapi/v3/apis/apps/v1');
    const packed = await get('/openapi/v3/apis/apps/v1', { 'accept-encoding': 'gzip, br' });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.deepEqual(gunzipSync(packed.body), Buffer.from(plain.body as Uint8Array));
    assert.equal(JSON.parse(plain.body.toString()).openapi, '3.0.0');
  });

  it('do not exist for other group versions', async () => {
    for (const path of ['/openapi/v3/apis/batch/v1', '/openapi/v3/apis/apps', '/openapi/v3/constructor'])
      assert.equal((await get(path)).status, 404, path);
    assert.equal(await openApi.respond(pathRequest('/openapi')), undefined);
  });

  it('are JSON only', async () => {
    const check = async (accept: string, status: number) =>
      assert.equal((await get('/openapi/v3/api/v1', { accept })).status, status, accept);
    await check('application/com.github.proto-openapi.spec.v3@v1.0+protobuf', 406);
    await check('application/com.github.proto-openapi.spec.v3@v1.0+protobuf, application/json', 200);
    await check('*/*', 200);
  });
});

describe('the document of OpenAPI v2', () => {
  it('is JSON or protobuf', async () => {
    const json = await get('/openapi/v2', { accept: 'application/json' });
    assert.equal(json.headers['content-type'], 'application/json');
    assert.equal(JSON.parse(json.body.toString()).swagger, '2.0');
    const protobuf = await get('/openapi/v2', { accept: PROTOBUF });
    assert.equal(protobuf.headers['content-type'], 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
    assert.deepEqual([...(protobuf.body as Uint8Array).subarray(0, 5)], [0x0a, 3, 0x32, 0x2e, 0x30]);
    assert.equal((await get('/openapi/v2', { accept: 'text/html' })).status, 406);
  });
});
