import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, groupResource } from '@podwright/api-machinery';
import { waitFor } from '@podwright/base';
import { Schema } from '@podwright/kube-schema';
import { DirectCalls } from '../in-process-client/direct-calls.ts';
import type { SubresourceHandler } from './server-parts.ts';
import { eventsOf, open, send, WAYS } from './test-client.fixture.ts';
import { TestServer } from './test-server.fixture.ts';

const PODS = '/api/v1/namespaces/x/pods';
const pod = (name: string) => JSON.stringify({ metadata: { name } });

for (const way of WAYS)
  test(`creates, reads, changes, lists and deletes objects over ${way}`, async () => {
    await using server = await TestServer.start();
    const created = await send(server, way, { method: 'POST', path: PODS, body: pod('web') });
    assert.deepEqual([created.status, created.json().metadata.name], [201, 'web']);
    assert.equal(created.headers['cache-control'], 'no-cache, private');
    assert.match(String(created.headers['audit-id']), /^[\da-f-]{36}$/);
    const got = await send(server, way, { path: `${PODS}/web` });
    assert.deepEqual(got.json(), created.json());
    assert.equal((await send(server, way, { path: PODS })).json().items.length, 1);
    const body = { ...created.json(), metadata: { ...created.json().metadata, labels: { a: 'b' } } };
    const updated = await send(server, way, { method: 'PUT', path: `${PODS}/web`, body: JSON.stringify(body) });
    assert.deepEqual(updated.json().metadata.labels, { a: 'b' });
    const patched = await send(server, way, {
      method: 'PATCH',
      path: `${PODS}/web/status`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"status":{"phase":"Running"}}',
    });
    assert.equal(patched.json().status.phase, 'Running');
    const deleted = await send(server, way, { method: 'DELETE', path: `${PODS}/web` });
    assert.deepEqual([deleted.status, deleted.json().kind], [200, 'Pod']);
    const missing = await send(server, way, { path: `${PODS}/web` });
    assert.deepEqual([missing.status, missing.json().message], [404, 'pods "web" not found']);
    const configMap = { method: 'POST', path: '/api/v1/namespaces/x/configmaps', body: pod('c') };
    const { uid } = (await send(server, way, configMap)).json().metadata;
    const status = (await send(server, way, { method: 'DELETE', path: `${configMap.path}/c` })).json();
    assert.deepEqual(status, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'c', kind: 'configmaps', uid },
    });
    await send(server, way, { method: 'POST', path: PODS, body: pod('a') });
    const collection = await send(server, way, { method: 'DELETE', path: PODS });
    assert.deepEqual([collection.json().kind, collection.json().items.length], ['PodList', 1]);
    assert.deepEqual(server.errors, []);
  });

for (const way of WAYS)
  test(`watches objects over ${way} until the client, the timeout or the server ends the watch`, async () => {
    await using server = await TestServer.start();
    await send(server, way, { method: 'POST', path: PODS, body: pod('a') });
    const watch = await open(server, way, { path: `${PODS}?watch=1` });
    const events = eventsOf(watch.body);
    assert.deepEqual((await events.next()).value.object.metadata.name, 'a');
    await send(server, way, { method: 'POST', path: PODS, body: pod('b') });
    assert.deepEqual((await events.next()).value.object.metadata.name, 'b');
    const timed = await send(server, way, { path: `${PODS}?watch=1&timeoutSeconds=1` });
    assert.equal(timed.text.trimEnd().split('\n').length, 2);
    const one = await send(server, way, {
      path: `${PODS}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Db`,
    });
    assert.equal(JSON.parse(one.text).object.metadata.name, 'b');
    const named = await send(server, way, { path: '/api/v1/watch/namespaces/x/pods/b?timeoutSeconds=1' });
    assert.equal(JSON.parse(named.text).object.metadata.name, 'b');
    const other = await send(server, way, {
      path: '/api/v1/watch/namespaces/x/pods/b?fieldSelector=metadata.name%3Da',
    });
    assert.equal(other.json().message, "fieldSelector metadata.name doesn't match requested name");
    await server.listeners.stop(2000);
    assert.equal((await events.next()).done, true);
    watch.close();
  });

test('authenticates requests over TLS, and trusts socket clients', async () => {
  await using server = await TestServer.start();
  const [local, http1, http2] = WAYS;
  await send(server, local, { path: PODS });
  for (const way of [http1, http2]) {
    await send(server, way, { path: PODS, user: 'alice' });
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      const refused = await send(server, way, { path: PODS, user: '', headers });
      assert.deepEqual([refused.status, refused.json().reason], [401, 'Unauthorized']);
    }
  }
  assert.deepEqual(server.authorized, ['system:admin list pods x/', 'alice list pods x/', 'alice list pods x/']);
});

test('authorizes requests without credentials as anonymous, for the configured paths only', async () => {
  await using server = await TestServer.start({ anonymousPaths: [`${PODS}/open`], decide: () => 'no opinion' });
  const [, way] = WAYS;
  const statusOf = async (path: string, headers = {}) => (await send(server, way, { path, user: '', headers })).status;
  assert.equal(await statusOf(`${PODS}/open`), 403);
  for (const path of [PODS, `${PODS}/open/status`, `${PODS}/other`]) assert.equal(await statusOf(path), 401, path);
  assert.equal(await statusOf(`${PODS}/open`, { authorization: 'Bearer wrong' }), 401);
  assert.deepEqual(server.authorized, ['system:anonymous get pods x/open']);
});

test('authorizes each request as the impersonated user', async () => {
  await using server = await TestServer.start({
    decide: ({ user }) => (user.username === 'bob' ? 'no opinion' : 'allow'),
  });
  const [, way] = WAYS;
  const headers = { 'impersonate-user': 'bob' };
  const refused = await send(server, way, { path: `${PODS}/a`, headers });
  assert.deepEqual(refused.json(), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'pods "a" is forbidden: User "bob" cannot get resource "pods" in API group "" in the namespace "x"',
    reason: 'Forbidden',
    details: { name: 'a', kind: 'pods' },
    code: 403,
  });
  assert.equal(refused.headers['x-content-type-options'], 'nosniff');
  const path = await send(server, way, { path: '/livez', user: 'bob' });
  assert.equal(path.json().message, 'forbidden: User "bob" cannot get path "/livez"');
  const refusal = await send(server, way, { path: PODS, user: 'alice', headers });
  assert.equal(refusal.json().message, 'users "bob" is forbidden: not allowed');
  assert.equal(refusal.headers['x-content-type-options'], 'nosniff');
  const missing = await send(server, way, { path: `${PODS}/none` });
  assert.deepEqual([missing.status, missing.headers['x-content-type-options']], [404, undefined]);
  assert.deepEqual(server.authorized, ['bob get pods x/a', 'bob get /livez', 'root get pods x/none']);
});

test('handles paths, unknown resources, methods and subresources like upstream', async () => {
  await using server = await TestServer.start();
  const [way] = WAYS;
  const status = async (method: string, path: string) => (await send(server, way, { method, path })).status;
  assert.equal((await send(server, way, { path: '/livez' })).text, 'ok');
  assert.equal((await send(server, way, { path: '/other' })).text, '404 page not found\n');
  assert.equal(await status('GET', '/apis/batch/v1/jobs'), 404);
  assert.equal(await status('GET', '/api/v1/foos'), 404);
  assert.equal(await status('POST', '/api/v1/pods'), 405);
  assert.equal(await status('DELETE', '/api/v1/pods'), 405);
  assert.equal(await status('GET', '/api/v1/pods/a'), 404);
  assert.equal(await status('GET', '/api/v1/namespaces/x/nodes'), 404);
  assert.equal(await status('POST', `${PODS}/a`), 405);
  assert.equal(await status('PUT', PODS), 405);
  assert.equal(await status('TRACE', PODS), 405);
  assert.equal(await status('GET', `${PODS}/a/log`), 404);
  assert.equal(await status('GET', `${PODS}/a/unknown`), 404);
  assert.equal(await status('GET', `${PODS}/a/constructor`), 404);
  assert.equal(await status('DELETE', `${PODS}/a/status`), 405);
  assert.equal(await status('GET', '/api/v1/watch/nodes?timeoutSeconds=1'), 200);
  assert.equal(await status('GET', '/api/v1/proxy/nodes/a'), 405);
});

test('HEAD and OPTIONS exist only for backends and for documents that upstream does not route by method', async () => {
  await using server = await TestServer.start();
  for (const way of WAYS) {
    const head = async (path: string) => (await send(server, way, { method: 'HEAD', path })).status;
    for (const path of [PODS, `${PODS}?watch=1`, `${PODS}/a`, `${PODS}/a/status`, `${PODS}/a/log`, `${PODS}/a/exec`])
      assert.equal(await head(path), path.endsWith('log') || path.endsWith('exec') ? 404 : 405, path);
    assert.equal(await head('/api/v1/watch/namespaces/x/pods'), 405);
    assert.equal(await head('/livez'), 200);
    const options = await send(server, way, { method: 'OPTIONS', path: PODS });
    assert.deepEqual([options.status, options.json().reason], [405, 'MethodNotAllowed']);
  }
});

test('objects cannot be reached by a path of the other scope, which would bypass authorization', async () => {
  const { resources } = await Schema.load();
  const answer: SubresourceHandler = async ({ writer }) => writer.bytes(200, { contentType: 'text/plain', parts: [] });
  const special = resources.flatMap((resource) => [
    groupResource(resource),
    ...Object.keys(resource.subresources ?? {}).map((name) => `${groupResource(resource)}/${name}`),
  ]);
  await using server = await TestServer.start({ subresources: new Map(special.map((name) => [name, answer])) });
  const reached: string[] = [];
  for (const { group, version, plural, namespaced, subresources = {} } of resources) {
    if (group === 'batch') continue; // not served here
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const collection = namespaced ? `${root}/${plural}` : `${root}/namespaces/x/${plural}`;
    const below = Object.keys(subresources).map((name) => `${collection}/x/${name}`);
    for (const path of [collection, `${collection}/x`, ...below])
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const { status } = await send(server, WAYS[0], { method, path });
        const isList = namespaced && path === collection;
        if (!(isList ? [200, 405] : [404]).includes(status)) reached.push(`${method} ${path}: ${status}`);
      }
  }
  assert.deepEqual(reached, []);
});

test('passes requests for other subresources to their handlers', async () => {
  const subresources = new Map([
    [
      'pods/log',
      async ({ writer, info }) => writer.bytes(200, { contentType: 'text/plain', parts: [Buffer.from(info.name)] }),
    ],
  ] satisfies Iterable<[string, SubresourceHandler]>);
  await using server = await TestServer.start({ subresources });
  assert.equal((await send(server, WAYS[0], { path: `${PODS}/web/log` })).text, 'web');
  assert.deepEqual(server.authorized, ['system:admin get pods/log x/web']);
});

test('warns about unknown fields and deprecated versions', async () => {
  await using server = await TestServer.start();
  const body = '{"metadata":{"name":"a"},"x":1}';
  const sent = await send(server, WAYS[0], { method: 'POST', path: '/api/v1/namespaces/x/endpoints', body });
  assert.equal(
    sent.headers.warning,
    String.raw`299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice", 299 - "unknown field \"x\""`,
  );
});

test('warns about a deprecated version even if the request fails', async () => {
  await using server = await TestServer.start();
  const { status, headers } = await send(server, WAYS[0], { path: '/api/v1/namespaces/x/endpoints/none' });
  const warning = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"';
  assert.deepEqual([status, headers.warning], [404, warning]);
});

test('waits for the resource version required by a client', async () => {
  await using server = await TestServer.start();
  const get = async (version: string) => {
    const { status, json } = await send(server, WAYS[0], {
      path: `/api/v1/namespaces/x/pods/a?resourceVersion=${version}`,
    });
    return [status, json().message];
  };
  const [status, message] = await get('99999999');
  assert.equal(status, 504);
  assert.match(message, /^Timeout: Too large resource version: 99999999, current: \d+$/);
  const invalid = 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax';
  assert.deepEqual(await get('x'), [500, invalid]);
});

test('reports an unexpected error without details, and keeps serving', async () => {
  const resource = {
    get: () => {
      throw new TypeError('the password is secret');
    },
  };
  await using server = await TestServer.start({ resource });
  const failed = await send(server, WAYS[0], { path: `${PODS}/a`, headers: { 'audit-id': 'my-id' } });
  assert.deepEqual([failed.status, failed.headers['audit-id']], [500, 'my-id']);
  assert.match(failed.json().message, /^Internal error occurred: .* audit ID my-id$/);
  assert.match(JSON.stringify(server.errors), /the password is secret/);
  assert.equal((await send(server, WAYS[0], { path: PODS })).status, 200);
});

test('responses, even in-process ones, wait until all writes are durable, and report a failed disk', async () => {
  await using server = await TestServer.start();
  const calls = new DirectCalls(server.parts, { username: 'root', groups: [] });
  const synced = Promise.withResolvers<void>();
  server.parts.untilDurable = () => synced.promise;
  const answered: string[] = [];
  const paths = [PODS, `${PODS}/none`];
  const sent = paths.map((path) => send(server, WAYS[0], { path }).then(({ status }) => answered.push(`${status}`)));
  const called = calls.text({ method: 'GET', path: PODS, what: 'list' }).then(() => answered.push('called'));
  assert.equal((await send(server, WAYS[0], { path: '/livez' })).status, 200);
  const authorized = () => server.authorized.filter((one) => one.includes('pods')).length === 3 || undefined;
  await waitFor(authorized, { intervalMs: 5, signal: AbortSignal.timeout(5000) });
  await new Promise(setImmediate);
  assert.deepEqual(answered, []);
  synced.resolve();
  await Promise.all([...sent, called]);
  assert.deepEqual(answered.sort(), ['200', '404', 'called']);
  server.parts.untilDurable = () => Promise.reject(new ApiError(503, 'ServiceUnavailable', { message: 'no disk' }));
  const failed = await send(server, WAYS[0], { path: PODS });
  assert.deepEqual([failed.status, failed.json().message], [503, 'no disk']);
});
