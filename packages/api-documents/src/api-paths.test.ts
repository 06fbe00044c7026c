import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Schema } from '@podwright/kube-schema';
import { ApiPaths } from './api-paths.ts';
import { Health } from './discovery/health.ts';
import { pathRequest } from './path-request.fixture.ts';

const schema = await Schema.load();
const resources = schema.resources.filter(({ group }) => group === '' || group === 'apps');
const health = new Health({ livez: [], readyz: [], healthz: [] }, () => undefined);
const options = { schema, resources, serverAddress: '127.0.0.1:6443', health };
const paths = new ApiPaths({ ...options, metrics: () => 'up 1\n', otherPaths: ['/openid/v1/jwks'] });
const get = (target: string) => paths.respond(pathRequest(target));

test('each path is handled by its part', async () => {
  const check = async (target: string, status: number, contentType: string) => {
    const response = await get(target);
    assert.deepEqual([response.status, response.headers['content-type']], [status, contentType], target);
  };
  await check('/api', 200, 'application/json');
  await check('/apis/apps/v1', 200, 'application/json');
  await check('/openapi/v3', 200, 'application/json');
  await check('/livez', 200, 'text/plain; charset=utf-8');
  await check('/metrics', 200, 'text/plain; version=0.0.4; charset=utf-8');
  await check('/nothing', 404, 'text/plain; charset=utf-8');
  await check('/versions', 404, 'text/plain; charset=utf-8');
});

test('the version is comparable by clients', async () => {
  const version = JSON.parse(String((await get('/version')).body));
  assert.match(version.gitVersion, /^v1\.36\.0\+podwright\.\d+\.\d+\.\d+/);
  assert.deepEqual([version.major, version.minor], ['1', '36']);
  assert.match(version.platform, /^linux\/[a-z\d]+$/);
  await assert.rejects(paths.respond(pathRequest('/version', {}, 'POST')), /does not allow this method/);
});

test('the paths are listed at the root', async () => {
  const { paths: listed } = JSON.parse(String((await get('/')).body));
  assert.deepEqual(listed, listed.toSorted());
  for (const path of ['/api/v1', '/apis/apps', '/livez/ping', '/metrics', '/openapi/v3', '/openid/v1/jwks', '/version'])
    assert.ok(listed.includes(path), path);
});

test('the metrics path is absent if metrics are disabled', async () => {
  const plain = new ApiPaths(options);
  assert.equal((await plain.respond(pathRequest('/metrics'))).status, 404);
  assert.ok(!String((await plain.respond(pathRequest('/'))).body).includes('/metrics'));
});
